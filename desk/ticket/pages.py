"""The page of a ticket, and the forms that are sent from it."""

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import (
    Http404,
    HttpResponse,
    JsonResponse,
)
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext

from core.files.refusals import FileRefused
from core.values.ids import read_id
from desk.common.forms import WriteForm
from desk.common.pages import CHANGE_TICKET, VIEW_TICKET, desk_page, draw
from desk.common.requests import StaffRequest
from desk.queue import places, walking
from desk.queue.rows import listed_tickets
from desk.ticket import (
    answering,
    next_ticket,
    page_context,
    pending,
    together,
    unread,
    visits,
)
from desk.ticket.answering import SentBefore
from desk.ticket.company_links import link_count
from desk.ticket.pending_pages import returned_context
from tickets.assignment import taking
from tickets.assignment.reassigning import AssignmentRefused
from tickets.changes.actors import NotAllowed
from tickets.changes.notifications import mark_read
from tickets.changes.page_tokens import page_token_of, require_page_token, with_page_token
from tickets.changes.snoozing import asleep_until
from tickets.changes.uploads import stored_uploads
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import PendingAnswer, Ticket


def find_ticket(ticket_id: int) -> Ticket:
    """Return a ticket with the columns and relations that its page shows. Raises Http404."""
    tickets = with_page_token(listed_tickets()).select_related("rating")
    tickets = tickets.annotate(asleep_until=asleep_until(), link_count=link_count())
    return get_object_or_404(tickets, pk=ticket_id)


@desk_page(VIEW_TICKET)
def ticket_page(request: StaffRequest, object_id: str) -> HttpResponse:
    """Show a ticket. Its forms are sent to other addresses; a POST is refused."""
    if request.method not in ("GET", "HEAD"):
        raise PermissionDenied
    try:
        ticket = find_ticket(read_id(object_id) or 0)
    except Http404:
        text = gettext("There is no ticket %(ticket)s.")
        messages.warning(request, text % {"ticket": object_id})
        return redirect("admin:index")
    mark_read(request.user, ticket_id=ticket.pk)
    return show_ticket(request, ticket)


def show_ticket(
    request: StaffRequest,
    ticket: Ticket,
    *,
    form: WriteForm | None = None,
    refusal: str = "",
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """Render the page; `more` is context for the forms of other views."""
    before = read_id(request.GET.get("before", ""))
    walk = walking.walk(request, ticket)
    token = unread.tokens_in(request.POST).get(ticket.pk)
    back = returned_context(request.user, ticket, fresh=form is None and not more)
    token = back.pop("token", token)
    context = {
        **page_context.page_context(
            ticket,
            request.user,
            may_work=request.user.has_perm(CHANGE_TICKET),
            before=before,
            macro=request.GET.get("macro", ""),
        ),
        "walk": walk,
        "beside": walk.rows(ticket),
        "opts": Ticket._meta,
        "original": ticket,
        "is_fullwidth": "1",
        "form": form,
        "refusal": refusal,
        # A page of earlier messages shows nothing newer than the page that links to it.
        "seen": request.GET.get("seen", "") if before else page_token_of(ticket),
        "unread": unread.lines_since(ticket, token, request.user),
        **back,
        **more,
    }
    title = gettext("Ticket %(ticket)s") % {"ticket": ticket.pk}
    return draw(request, "admin/tickets/ticket/page.html", title, status=status, **context)


@desk_page(CHANGE_TICKET, post_only=True)
def write_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Submit a reply or a note, with its move; a refusal shows the form again."""
    ticket = find_ticket(ticket_id)
    form = WriteForm(request.POST, request.FILES)
    public = "reply" in request.POST
    if not form.is_valid():
        return show_ticket(request, ticket, form=form, status=400)
    values = form.cleaned_data
    answer = PendingAnswer(
        ticket_id=ticket_id,
        user=request.user,
        text=values["text"],
        public=public,
        to=values["to"],
        seen=str(values["seen"]),
        requested=values["requested"],
        **pending.decision_fields(values["decision"]),
    )
    try:
        if values["back"]:
            names = request.POST.getlist("kept")
            returned = pending.replace_returned(answer, values["back"])
            answer.files = [file for file in returned.files if file["stored_as"] in names]
        with stored_uploads(request.FILES.getlist("files")) as files:
            answer.files += map(asdict, files)
            answering.submit_answer(answer, key=values["key"], again=values["again"])
    except (StaleTicket, MoveRefused, FileRefused, ValueError) as error:
        fresh = find_ticket(ticket_id)
        again = isinstance(error, SentBefore)
        return show_ticket(request, fresh, form=form, refusal=str(error), again=again, status=409)
    if answer.due_at is None:
        text = gettext("Sent to the company.") if public else gettext("Note saved.")
        messages.success(request, text)
    if not public:
        together.warn_of_unknown_names(request, answer.text)
    response = next_ticket.next_page(request, ticket_id)
    if values["key"]:
        # The page's script deletes the draft that has this key.
        response.set_cookie("desk_sent", str(values["key"]), path="/admin/", samesite="Lax")
    return response


@desk_page(CHANGE_TICKET, post_only=True)
def presence_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Record a sign of life from an open page; the answer says who else is there."""
    writing = request.POST.get("writing") == "1"
    if visits.record_visit(ticket_id, request.user, writing=writing) is None:
        raise Http404
    present = visits.others(ticket_id, request.user)
    answers = pending.answers_of_ticket(ticket_id)
    lines = [*pending.about_to_send(answers, request.user), *map(str, present)]
    return JsonResponse({"present": lines})


@desk_page(CHANGE_TICKET, post_only=True)
def claim_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    find_ticket(ticket_id)
    token = unread.tokens_in(request.POST).get(ticket_id)
    try:
        taking.take_ticket(ticket_id, request.user, seen=require_page_token(token))
    except StaleTicket as error:
        fresh = find_ticket(ticket_id)
        return show_ticket(request, fresh, unclaimed=str(error), status=409)
    except (NotAllowed, AssignmentRefused) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, gettext("The ticket is now assigned to you."))
    return places.stay(request, ticket_id)


@desk_page(CHANGE_TICKET, post_only=True)
def take_page(request: StaffRequest) -> HttpResponse:
    return next_ticket.take_next(request)
