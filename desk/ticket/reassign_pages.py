"""The page on which a lead assigns one or many tickets to an agent."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy

from desk.common.admin_base import ModelAdmin
from desk.common.forms import AssignForm
from desk.common.pages import ASSIGN_TICKET, desk_page, draw
from desk.common.requests import StaffRequest, staff
from desk.queue import places
from desk.queue.rows import listed_tickets
from desk.ticket import unread
from desk.ticket.moves import first_of, picked_by
from tickets.assignment import reassigning
from tickets.assignment.reassigning import MOST_AT_ONCE
from tickets.changes.page_tokens import with_page_token
from tickets.models import Ticket


@admin.action(description=gettext_lazy("Assign selected tickets…"), permissions=["assign"])
def give(page: ModelAdmin, request: HttpRequest, queryset: QuerySet[Ticket]) -> HttpResponse:
    return give_dialog(request, first_of(queryset), AssignForm())


@desk_page(ASSIGN_TICKET)
def give_page(request: StaffRequest) -> HttpResponse:
    """Show the dialog (GET) or assign (POST); refused tickets are shown again as they are now."""
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
    ids = refused or [one.ticket_id for one in picked]
    tickets = listed_tickets().filter(pk__in=ids)
    return give_dialog(request, tickets, form, refused)


def give_dialog(
    request: HttpRequest,
    tickets: QuerySet[Ticket],
    form: AssignForm,
    refused: dict[int, str] | None = None,
) -> HttpResponse:
    query = request.POST or request.GET
    return draw(
        request,
        "admin/tickets/ticket/give.html",
        gettext("Assign tickets"),
        status=409 if refused else 200,
        tickets=unread.shown_tickets(with_page_token(tickets), query, refused, staff(request)),
        form=form,
        place=places.dialog_place(request),
    )
