"""Tickets in the admin: their list, its bulk actions, and a ticket's page."""

from typing import Any, cast

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from desk.common.admin_base import NeverAdded, NeverDeleted
from desk.common.pages import ASSIGN_TICKET
from desk.queue.list_admin import ListPages
from desk.ticket.moves import MOVE_ACTIONS
from desk.ticket.pages import ticket_page
from desk.ticket.reassign_pages import give
from tickets.models import Ticket


@admin.register(Ticket)
class TicketAdmin(NeverAdded, NeverDeleted, ListPages):
    """List of tickets. Agents work them on their own pages, not in the admin's form."""

    actions = (*MOVE_ACTIONS, give)

    def has_assign_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(ASSIGN_TICKET)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        return cast(HttpResponse, ticket_page(request, object_id))
