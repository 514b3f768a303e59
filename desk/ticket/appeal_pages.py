"""What a lead decides on an appeal, sent from the ticket's page (decision N14)."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext, gettext_noop

from desk.common.forms import AppealForm
from desk.common.pages import CHANGE_TICKET, desk_page
from desk.common.requests import StaffRequest
from desk.queue import places
from desk.ticket import pending
from desk.ticket.pages import find_ticket, show_ticket
from tickets.changes.appeals import NoAppeal, OwnDecision
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import PendingAnswer

DONE = {
    "accept": gettext_noop("You accepted the appeal."),
    "refuse": gettext_noop("You refused the appeal."),
}


@desk_page(CHANGE_TICKET, "tickets.reopen_ticket", post_only=True)
def appeal_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Decide, from the box beside the conversation; a refusal shows it again, with the reason."""
    ticket = find_ticket(ticket_id)
    form = AppealForm(request.POST)
    if not form.is_valid():
        return show_ticket(request, ticket, status=400, appeal_form=form)
    said = form.cleaned_data
    answer = PendingAnswer(
        ticket_id=ticket_id,
        user=request.user,
        kind=said["decision"],
        text=said["reason"],
        seen=str(said["seen"]),
        alone=said["alone"],
    )
    try:
        if said["back"]:
            pending.take_up(answer, said["back"])
        pending.send_or_keep(answer)
    except (StaleTicket, MoveRefused, NoAppeal) as error:
        fresh = find_ticket(ticket_id)
        return show_ticket(
            request,
            fresh,
            status=409,
            appeal_form=form,
            appeal_refusal=str(error),
            appeal_alone=isinstance(error, OwnDecision) and error.alone,
        )
    if answer.due_at is None:
        messages.success(request, gettext(DONE[said["decision"]]))
    return places.stay(request, ticket_id)
