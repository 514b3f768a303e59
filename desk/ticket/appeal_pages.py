"""A lead's decision on an appeal, sent from the ticket's page (decision N14)."""

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

CONFIRMATIONS = {
    "accept": gettext_noop("You accepted the appeal."),
    "refuse": gettext_noop("You refused the appeal."),
}


@desk_page(CHANGE_TICKET, "tickets.reopen_ticket", post_only=True)
def appeal_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Decide an appeal; a refusal shows the page again, with the form and the reason."""
    ticket = find_ticket(ticket_id)
    form = AppealForm(request.POST)
    if not form.is_valid():
        return show_ticket(request, ticket, status=400, appeal_form=form)
    values = form.cleaned_data
    answer = PendingAnswer(
        ticket_id=ticket_id,
        user=request.user,
        kind=values["decision"],
        text=values["reason"],
        seen=str(values["seen"]),
        alone=values["alone"],
    )
    try:
        if values["back"]:
            pending.replace_returned(answer, values["back"])
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
        messages.success(request, gettext(CONFIRMATIONS[values["decision"]]))
    return places.stay(request, ticket_id)
