"""What agents send of a ticket's claim: its amounts (decision N19)."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from desk.common.forms import SeenAmountsForm
from desk.common.pages import CHANGE_TICKET, desk_page
from desk.common.requests import StaffRequest
from desk.queue import places
from desk.ticket import claims
from desk.ticket.pages import find_ticket, show_ticket
from tickets.changes.decisions import set_amounts
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import Ticket


@desk_page(CHANGE_TICKET, post_only=True)
def amounts_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Set the amounts; what is refused is shown again as it was typed."""
    ticket = find_ticket(ticket_id)
    form = SeenAmountsForm(request.POST)
    if not form.is_valid():
        return show_ticket(request, ticket, status=400, **kept(ticket, form))
    said = form.cleaned_data
    if said["amounts"] is None:
        return places.stay(request, ticket_id)
    try:
        set_amounts(ticket_id, said["amounts"], user=request.user, seen=said["seen"])
    except (StaleTicket, MoveRefused) as error:
        fresh = find_ticket(ticket_id)
        said = kept(fresh, form)
        return show_ticket(request, fresh, status=409, amounts_refusal=str(error), **said)
    messages.success(request, gettext("The amounts are saved."))
    return places.stay(request, ticket_id)


def kept(ticket: Ticket, form: SeenAmountsForm) -> dict[str, Any]:
    """The box as it was sent, for the page that refuses it."""
    return {"amounts_form": form, "amounts": claims.amount_values(ticket, form)}
