"""The form with the amounts of a ticket's claim (decision N19)."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext

from desk.common.forms import PageAmountsForm
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
    """Set the amounts; a refusal shows the form again as it was typed."""
    ticket = find_ticket(ticket_id)
    form = PageAmountsForm(request.POST)
    if not form.is_valid():
        return show_ticket(request, ticket, status=400, **submitted_amounts(ticket, form))
    values = form.cleaned_data
    if values["amounts"] is None:
        return places.stay(request, ticket_id)
    try:
        set_amounts(ticket_id, values["amounts"], user=request.user, seen=values["seen"])
    except (StaleTicket, MoveRefused) as error:
        fresh = find_ticket(ticket_id)
        typed = submitted_amounts(fresh, form)
        return show_ticket(request, fresh, status=409, amounts_refusal=str(error), **typed)
    messages.success(request, gettext("The amounts are saved."))
    return places.stay(request, ticket_id)


def submitted_amounts(ticket: Ticket, form: PageAmountsForm) -> dict[str, Any]:
    """Build the context that shows a refused form as it was sent."""
    return {"amounts_form": form, "amounts": claims.amount_values(ticket, form)}
