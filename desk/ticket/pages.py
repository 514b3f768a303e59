"""The page of one ticket, and what is sent from it."""

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
from desk.common import attachments
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
from desk.ticket.pending_pages import returned_context
from tickets.assignment import taking
from tickets.assignment.reassigning import NotGiven
from tickets.changes.actors import NotAllowed
from tickets.changes.notifications import mark_read
from tickets.changes.seen import require_seen, seen_of, with_seen
from tickets.changes.snoozing import asleep_until
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import PendingAnswer, Ticket


def find_ticket(ticket_id: int) -> Ticket:
    """The ticket with all that its page asks of the row. Raises Http404."""
    found = with_seen(listed_tickets()).select_related("rating")
    return get_object_or_404(found.annotate(asleep_until=asleep_until()), pk=ticket_id)


@desk_page(VIEW_TICKET)
def ticket_page(request: StaffRequest, object_id: str) -> HttpResponse:
    """A ticket is read here; nothing of it is edited in a form."""
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
    """The page; `more` is for the boxes that further pages add to it."""
    before, walk = read_id(request.GET.get("before", "")), walking.walk(request, ticket)
    had = unread.tokens_in(request.POST).get(ticket.pk)
    back = returned_context(request.user, ticket, fresh=form is None and not more)
    had = back.pop("had", had)
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
        # A page of earlier messages shows nothing that is newer than the page it came from.
        "seen": request.GET.get("seen", "") if before else seen_of(ticket),
        "unread": unread.lines_since(ticket, had, request.user),
        **back,
        **more,
    }
    title = gettext("Ticket %(ticket)s") % {"ticket": ticket.pk}
    return draw(request, "admin/tickets/ticket/page.html", title, status=status, **context)


@desk_page(CHANGE_TICKET, post_only=True)
def write_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Take a reply or a note, and the move it comes with; what is refused is shown again."""
    ticket = find_ticket(ticket_id)
    form, public = WriteForm(request.POST, request.FILES), "reply" in request.POST
    if not form.is_valid():
        return show_ticket(request, ticket, form=form, status=400)
    said = form.cleaned_data
    answer = PendingAnswer(
        ticket_id=ticket_id,
        user=request.user,
        text=said["text"],
        public=public,
        to=said["to"],
        seen=str(said["seen"]),
        requested=said["requested"],
        **pending.decision_fields(said["decision"]),
    )
    try:
        if said["back"]:
            kept, before = request.POST.getlist("kept"), pending.take_up(answer, said["back"])
            answer.files = [one for one in before.files if one["stored_as"] in kept]
        with attachments.stored_uploads(request.FILES.getlist("files")) as files:
            answer.files += map(asdict, files)
            answering.submit_answer(answer, key=said["key"], again=said["again"])
    except (StaleTicket, MoveRefused, FileRefused, ValueError) as error:
        fresh, again = find_ticket(ticket_id), isinstance(error, SentBefore)
        return show_ticket(request, fresh, form=form, refusal=str(error), again=again, status=409)
    if answer.due_at is None:
        sent = gettext("Sent to the company.") if public else gettext("Note saved.")
        messages.success(request, sent)
    if not public:
        together.warn_of_unknown_names(request, answer.text)
    response = next_ticket.next_page(request, ticket_id)
    if said["key"]:
        # Tells the page's script which draft has arrived and can go.
        response.set_cookie("desk_sent", str(said["key"]), path="/admin/", samesite="Lax")
    return response


@desk_page(CHANGE_TICKET, post_only=True)
def presence_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """A sign of life from an open page; answers who else is there."""
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
    had = unread.tokens_in(request.POST).get(ticket_id)
    try:
        taking.take_ticket(ticket_id, request.user, seen=require_seen(had))
    except StaleTicket as error:
        fresh = find_ticket(ticket_id)
        return show_ticket(request, fresh, unclaimed=str(error), status=409)
    except (NotAllowed, NotGiven) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, gettext("The ticket is now assigned to you."))
    return places.stay(request, ticket_id)


@desk_page(CHANGE_TICKET, post_only=True)
def take_page(request: StaffRequest) -> HttpResponse:
    return next_ticket.take_next(request)
