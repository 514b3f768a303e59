"""Admin options of the list of tickets."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy

from desk.queue.changelist import CappedPaginator, OpenedList, TicketChangeList
from desk.queue.export import EXPORT
from desk.queue.filters import FILTERS
from desk.queue.places import DEADLINES
from desk.queue.queues import TO_FILE, current_queue
from desk.queue.rows import TicketRows
from desk.queue.search import terms_of
from desk.queue.search_tickets import exact_ticket
from tickets.labels import move_verb
from tickets.models import Ticket
from tickets.statuses import AGENT_MOVES

TO_FILE_COLUMNS = ("ticket", "status_pill", "claimed", "filing", "agent_name", "updated")


class ListPages(TicketRows):
    """The list with queues, search and filters; an index serves each of its queries."""

    list_filter = FILTERS
    list_filter_submit = True
    list_fullwidth = True
    list_before_template = "desk/list_head.html"
    list_max_show_all = 0
    paginator = CappedPaginator
    show_facets = admin.ShowFacets.NEVER
    # The admin shows a search box only if there are fields; TicketChangeList does the search.
    search_fields = ("id",)
    search_help_text = gettext_lazy("ID, tracking or order number, company, agent or text")

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns; the queue of claims to file has amounts in place of due dates."""
        searching = bool(request.GET.get("q", "").strip())
        if current_queue(request, searching=searching).slug == TO_FILE:
            return TO_FILE_COLUMNS
        return self.list_display

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[TicketChangeList]:
        return OpenedList if vars(request).get("desk_opened_list") else TicketChangeList

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if (exact := self.ticket_asked_for(request)) is not None:
            return redirect("admin:tickets_ticket_change", exact)
        context = {
            "may_export": request.user.has_perm(EXPORT),
            "may_work": self.has_change_permission(request),
            "queue_to_file": current_queue(request, searching=False).slug == TO_FILE,
            "agent_moves": [
                (move.key, move_verb(to), f"move_to_{to.slug}") for to, move in AGENT_MOVES.items()
            ],
            **(extra_context or {}),
        }
        return super().changelist_view(request, context)

    def ticket_asked_for(self, request: HttpRequest) -> int | None:
        """Return the only ticket that a search names; None if filters are set as well."""
        alone = request.method == "GET" and set(request.GET) <= {"q", "queue"}
        if not (alone and request.GET.get("q", "").strip() and self.has_view_permission(request)):
            return None
        return exact_ticket(terms_of(request))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Ticket], search_term: str
    ) -> tuple[QuerySet[Ticket], bool]:
        return queryset, False

    def get_sortable_by(self, request: HttpRequest) -> tuple[str, ...]:
        searching = bool(request.GET.get("q", "").strip())
        small = searching or current_queue(request, searching=False).small
        return tuple(DEADLINES) if small else ()
