"""Page of a ticket: what happened, what is asked for, and what its company can do."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext, gettext_noop

from core.values.ids import read_id
from core.values.zones import in_zone
from portal import conversation
from portal import ticket_contents as contents
from portal.ticket_forms import AnswerForm, AppealForm, RatingForm, TicketForm
from portal.visitors import VisitorRequest, company_page, render_page
from tickets.api.serving import signed_path, thumbnail_response
from tickets.models import TicketFile
from tickets.statuses import TERMINAL, WAITING_FOR_COMPANY

NOTICES = {
    "opened": gettext_noop("Your ticket is open. We answer here, and by email if we need more."),
    "answer": gettext_noop("Your answer is sent. Ticket %(ticket)d is with us again."),
    "appeal": gettext_noop("Your appeal is sent. Somebody else looks at the decision again."),
    "rating": gettext_noop("Thank you. Your rating is sent."),
}
FORMS: dict[str, type[TicketForm]] = {
    kind.act: kind for kind in (AnswerForm, AppealForm, RatingForm)
}


@company_page()
def ticket_page(request: VisitorRequest, ticket_id: int) -> HttpResponse:
    if "If-None-Match" in request.headers:
        token = contents.read_state(request.visitor.company, ticket_id)
        if (unchanged := get_conditional_response(request, f'"{token}"')) is not None:
            return unchanged
    return show(request, ticket_id)


def show(
    request: VisitorRequest, ticket_id: int, refused: TicketForm | None = None
) -> HttpResponse:
    """Draw the page, after an act with the form that was refused."""
    ticket = contents.read_ticket(request.visitor.company, ticket_id)
    token, box = contents.token_of(ticket), contents.box_of(ticket)
    before, whole = (request.GET.get(name, "") for name in ("before", "message"))
    if whole.isdecimal():
        messages = conversation.read_whole(ticket, read_id(whole) or conversation.OPENING)
        earlier = None
    else:
        messages, earlier = conversation.read_page(ticket, read_id(before))
    forms = forms_of(ticket, box["can_appeal"], refused)
    typed = refused["text"].value() if refused and "text" in refused.fields else ""
    context = {
        "ticket": ticket,
        "address": reverse("portal_ticket", args=[ticket_id]),
        "box": box,
        "messages": messages,
        "earlier": earlier,
        "is_newest": not before and not whole,
        "heading": in_zone(gettext("Conversation")),
        "state": token,
        "notice": notice_of(ticket, request.GET) if request.GET.get("at") == token else "",
        "refused": refused,
        "forms": forms,
        "unsent": "" if any("text" in one.fields for one in forms) else typed,
    }
    return render_page(request, "ticket.html", context, refused.status if refused else 200)


def forms_of(ticket: Any, can_appeal: bool, refused: TicketForm | None) -> list[TicketForm]:
    """Return the forms that the ticket takes now, with what was typed into the refused one."""
    is_decided = ticket.status in TERMINAL
    takes = {
        AnswerForm: not is_decided,
        AppealForm: can_appeal,
        RatingForm: is_decided and ticket.stars is None,
    }
    typed = refused.data if refused else None
    return [
        refused if refused and isinstance(refused, kind) else kind(ticket, initial=typed)
        for kind, is_taken in takes.items()
        if is_taken
    ]


def notice_of(ticket: Any, sent: Mapping[str, str]) -> str:
    """Return what to say after a form was taken, as long as the ticket stays as it left it."""
    act = sent.get("sent", "")
    if act == "answer" and ticket.status in WAITING_FOR_COMPANY:
        return gettext("Your answer is sent. We still need what is asked for below.")
    return gettext(NOTICES[act]) % {"ticket": ticket.pk} if act in NOTICES else ""


def done(request: VisitorRequest, ticket_id: int, sent: str) -> HttpResponse:
    token = contents.read_state(request.visitor.company, ticket_id)
    address = f"{reverse('portal_ticket', args=[ticket_id])}?sent={sent}&at={token}"
    return HttpResponse(status=303, headers={"Location": address})


@company_page()
def act_page(request: VisitorRequest, ticket_id: int, act: str) -> HttpResponse:
    """Take a form of the page; whoever loads its address is led to the page."""
    if request.method != "POST":
        return redirect("portal_ticket", ticket_id)
    ticket = contents.read_ticket(request.visitor.company, ticket_id)
    form = FORMS[act](ticket, data=request.POST, files=request.FILES)
    if form.is_valid():
        form.call(form.send)
    return show(request, ticket_id, form) if form.errors else done(request, ticket_id, act)


@company_page()
def file_page(
    request: VisitorRequest, ticket_id: int, file_id: int, *, thumbnail: bool = False
) -> HttpResponse:
    own = TicketFile.objects.filter(ticket__company=request.visitor.company, public=True)
    file = get_object_or_404(own, ticket=ticket_id, pk=file_id)
    return thumbnail_response(file) if thumbnail else redirect(signed_path(file))
