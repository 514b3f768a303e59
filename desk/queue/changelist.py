"""The list of tickets: which, in which order, how many. Quick over a million of them."""

from typing import Any, Literal, cast

from django.core.paginator import Page
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.translation import gettext
from unfold.views import ChangeList

from desk.common.generics import Paginator
from desk.queue import queues, rows, search
from tickets.changes.seen import with_seen
from tickets.models import Ticket
from tickets.models.tickets import TicketQuerySet
from tickets.statuses import OPEN

MOST_COUNTED = 10_000
OPEN_STATUSES = {str(status.value) for status in OPEN}
DEADLINES = {"due": "due_at", "filing": "filing_due_at"}


class CappedPaginator(Paginator[Ticket]):
    """Counts no further than anybody turns pages."""

    object_list: QuerySet[Ticket]
    template_name = "desk/pagination.html"

    @cached_property
    def counted(self) -> int:
        return self.object_list.order_by().values("pk")[: MOST_COUNTED + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self.counted, MOST_COUNTED)

    @property
    def has_more(self) -> bool:
        """There are more than were counted."""
        return self.counted > MOST_COUNTED

    def nearest(self, number: int) -> Page[Ticket]:
        """That page, or the first or last where there is none of that number."""
        return self.page(min(max(number, 1), self.num_pages))


class TicketChangeList(ChangeList):
    """Its order is the queue's. Only a small queue can be sorted, and only by a deadline."""

    queue: queues.Queue
    found: search.Matches | None = None
    # Whom a name was perhaps meant for, when nothing was found.
    near: list[search.Hit] | None = None

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        # What was ticked is meant, also when it has left the queue since the page was shown.
        ticked = request.method == "POST" and request.POST.get("select_across") != "1"
        searching = ticked or bool(request.GET.get("q", "").strip())
        self.queue = queues.current_queue(request, searching=searching)
        super().__init__(request, *args, **kwargs)
        self.title = gettext("Search") if self.found else str(self.queue.title)

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        found = super().get_filters_params(params)
        found.pop("queue", None)
        return found

    def get_queryset(
        self, request: HttpRequest, exclude_parameters: list[str | None] | None = None
    ) -> QuerySet[Ticket]:
        everything = cast(TicketQuerySet, self.root_queryset)
        if self.query.strip():
            self.found = search.search_tickets(search.terms_of(request))
            self.near = [] if self.found.ids else search.find_near(search.terms_of(request))
            narrowed = everything.filter(pk__in=self.found.ids)
        else:
            narrowed = self.queue.narrow(everything, queues.queue_counts(request).me)
        self.root_queryset = narrowed
        try:
            return super().get_queryset(request, exclude_parameters)
        finally:
            self.root_queryset = everything

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Ticket]) -> list[Any]:
        """The queue's own: what a queryset is ordered by counts for nothing here.

        What is found is a list of ids, and an open status is rare among all tickets: in the order
        of time, PostgreSQL could walk over everything to come across them.
        """
        if self.queue.small or self.found:
            for column in self.get_ordering_field_columns():
                if deadline := DEADLINES.get(str(self.list_display[column])):
                    return [F(deadline).asc(nulls_last=True), "pk"]
        rare = self.params.get("status") in OPEN_STATUSES
        return list(
            queues.NEWEST if self.found or (rare and not self.queue.small) else self.queue.order
        )

    def get_ordering_field_columns(self) -> dict[int, Literal["desc", "asc"]]:
        """The column that the address asks for, by its number; the soonest always first."""
        number = self.params.get("o", "").removeprefix("-")
        known = number.isascii() and number.isdecimal() and int(number) < len(self.list_display)
        return {int(number): "asc"} if known else {}

    def get_results(self, request: HttpRequest) -> None:
        """As Django's, with one count, the nearest page, and no way to show all."""
        paginator = cast(
            CappedPaginator,
            self.model_admin.get_paginator(request, with_seen(self.queryset), self.list_per_page),
        )
        page = paginator.nearest(self.page_num)
        self.page_num = page.number
        self.result_count = paginator.count
        # As if nothing were hidden: Unfold would offer to show all.
        self.full_result_count = self.result_count
        self.show_full_result_count = False
        self.show_admin_actions = True
        self.can_show_all = False
        self.multi_page = paginator.num_pages > 1
        self.paginator = paginator
        self.result_list = rows.with_peeks(list(page.object_list))
