"""The page on which a lead gives tickets to an agent, one or many."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, gettext_lazy

from desk.common.admin_base import ModelAdmin
from desk.common.forms import AssignForm
from desk.common.requests import StaffRequest
from desk.queue import places
from desk.ticket import unread
from desk.ticket.moves import first_of, picked_by
from tickets.assignment import reassigning
from tickets.assignment.reassigning import MOST_AT_ONCE
from tickets.changes.seen import with_seen
from tickets.models import Ticket


class ReassignPages(ModelAdmin):
    """What TicketAdmin has for leads: an action of the list, and its page."""

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path("give/", guarded(self.give_page), name="tickets_ticket_give"),
            *super().get_urls(),
        ]

    def has_assign_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tickets.assign_ticket")

    @admin.action(description=gettext_lazy("Assign selected tickets…"), permissions=["assign"])
    def give(self, request: StaffRequest, queryset: QuerySet[Ticket]) -> HttpResponse:
        return self.give_dialog(request, first_of(queryset), AssignForm())

    def give_page(self, request: StaffRequest) -> HttpResponse:
        """GET asks to whom, POST gives; what was not given is shown again, as it is now."""
        if not self.has_assign_permission(request):
            raise PermissionDenied
        picked = picked_by(request.POST or request.GET, MOST_AT_ONCE)
        form = AssignForm(request.POST or None)
        refused: dict[int, str] = {}
        if request.method == "POST" and form.is_valid():
            outcome = reassigning.reassign_all(picked, user=request.user, **form.cleaned_data)
            refused = outcome.refused
            (messages.warning if refused else messages.success)(request, str(outcome))
            if not refused:
                if len(picked) == 1:
                    return places.stay(request, picked[0].ticket_id)
                return places.back_to_list(request)
        left = refused or [one.ticket_id for one in picked]
        tickets = self.get_queryset(request).filter(pk__in=left)
        return self.give_dialog(request, tickets, form, refused)

    def give_dialog(
        self,
        request: StaffRequest,
        tickets: QuerySet[Ticket],
        form: AssignForm,
        refused: dict[int, str] | None = None,
    ) -> HttpResponse:
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": gettext("Assign tickets"),
            "tickets": unread.shown_tickets(
                with_seen(tickets), request.POST or request.GET, refused, request.user
            ),
            "form": form,
            "place": places.dialog_place(request),
        }
        return TemplateResponse(
            request, "admin/tickets/ticket/give.html", context, status=409 if refused else 200
        )
