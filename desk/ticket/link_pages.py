"""Form of a ticket's page that ends the links in the company's emails."""

from django.contrib import messages
from django.http import HttpResponse
from django.utils.translation import gettext, ngettext

from desk.common.pages import CHANGE_TICKET, desk_page
from desk.common.requests import StaffRequest
from desk.queue import places
from desk.ticket import company_links
from desk.ticket.pages import find_ticket


@desk_page(CHANGE_TICKET, post_only=True)
def end_links_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    ended = company_links.end_links(find_ticket(ticket_id), request.user)
    text = ngettext("%(links)d link was ended.", "%(links)d links were ended.", ended)
    again = gettext("The next email about the ticket has a new one.")
    messages.success(request, f"{text % {'links': ended}} {again}")
    return places.stay(request, ticket_id)
