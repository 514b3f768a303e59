"""The list of tickets: selection, order and pages, fast over a million tickets."""

import hashlib
from collections.abc import Iterable
from typing import Any, Literal, cast
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.views.main import ORDER_VAR
from django.core.paginator import Page
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.translation import gettext
from unfold.views import ChangeList

from desk.common.cache import cached
from desk.common.generics import Paginator
from desk.common.search_terms import Terms
from desk.queue import keyset, queues, rows, search
from desk.queue.field_filter import FieldFilter, chosen_values
from desk.queue.keyset import Column
from desk.queue.places import DEADLINES, ListPlace, sorted_column
from desk.queue.range_filters import OPEN_ONLY
from desk.queue.search_tickets import Matches, search_tickets
from tickets.assignment.reassigning import MOST_AT_ONCE
from tickets.changes.page_tokens import with_page_token
from tickets.models import Ticket
from tickets.models.tickets import TicketQuerySet
from tickets.statuses import OPEN

MOST_COUNTED = 10_000
OPEN_STATUSES = {str(status.value) for status in OPEN}
# Parameters of the list's address that are not filters: queue, order, place in the list.
NO_FILTERS = ("queue", "oldest", "at")
# Reversed orders; the same index serves both directions.
OLDEST = {queues.NEWEST: ("pk",), queues.NEWEST_OF_ALL: ("created_at", "pk")}


class CappedPaginator(Paginator[Ticket]):
    """Paginator that counts MOST_COUNTED rows at most: nobody turns further pages."""

    object_list: QuerySet[Ticket]
    template_name = "desk/pagination.html"

    @cached_property
    def capped_count(self) -> int:
        return self.object_list.order_by().values("pk")[: MOST_COUNTED + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self.capped_count, MOST_COUNTED)

    @property
    def has_more(self) -> bool:
        return self.capped_count > MOST_COUNTED

    def page(self, number: int | str) -> Page[Ticket]:
        """Return a page; only the ids of the rows before it are read."""
        page = super().page(number)
        if page.number > 1:
            ids = self.object_list.values_list("pk", flat=True)
            page_ids = ids[page.start_index() - 1 : page.end_index()]
            page.object_list = self.object_list.filter(pk__in=list(page_ids))
        return page

    def nearest(self, number: int) -> Page[Ticket]:
        """Return the page of this number, or the first or last if there is none."""
        return self.page(min(max(number, 1), self.num_pages))


class TicketChangeList(ChangeList):
    """The list in its queue's order. Only a small queue can be sorted, and only by a deadline."""

    queue: queues.Queue
    most_at_once = MOST_AT_ONCE
    matches: Matches | None = None
    # Similar names, if a search found nothing.
    near: list[search.Hit] | None = None
    order: list[Any]
    # Index of the row of the ticket that the user came back from.
    here: int | None = None

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        # Selected tickets must be found even if they left the queue since the page was drawn.
        ticked = request.method == "POST" and request.POST.get("select_across") != "1"
        searching = ticked or bool(request.GET.get("q", "").strip())
        self.queue = queues.current_queue(request, searching=searching)
        super().__init__(request, *args, **kwargs)
        self.title = gettext("Search") if self.matches else str(self.queue.title)

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        filters = super().get_filters_params(params)
        for name in NO_FILTERS:
            filters.pop(name, None)
        return filters

    @property
    def columns(self) -> list[Column]:
        return keyset.order_columns(self.order)

    @property
    def turns(self) -> bool:
        """True if the order is by time, so that the list can be reversed."""
        return tuple(self.order) in (*OLDEST.keys(), *OLDEST.values())

    @property
    def problems(self) -> list[str]:
        """Messages about invalid filter values; the list is empty if there are any."""
        texts = (spec.problem() for spec in self.filter_specs if isinstance(spec, FieldFilter))
        return list(filter(None, texts))

    @property
    def as_list(self) -> str:
        """Query string that names this list in the address of another page."""
        query = "&".join((f"queue={self.queue.slug}", urlencode(self.filter_params, doseq=True)))
        return urlencode({"list": ListPlace.read(query).query})

    @property
    def turned_address(self) -> str:
        if self.oldest_first:
            return self.get_query_string(remove=["oldest", "at"])
        return self.get_query_string({"oldest": 1}, remove=["at"])

    @property
    def oldest_first(self) -> bool:
        return tuple(self.order) in OLDEST.values()

    def get_queryset(
        self, request: HttpRequest, exclude_parameters: list[str | None] | None = None
    ) -> QuerySet[Ticket]:
        everything = cast(TicketQuerySet, self.root_queryset)
        if self.query.strip():
            terms = search.terms_of(request)
            self.matches = self.find(terms)
            self.near = [] if self.matches.ids else search.find_near(terms)
            narrowed = everything.filter(pk__in=self.matches.ids)
        else:
            narrowed = self.queue.narrow(everything, queues.queue_counts(request).me)
        self.root_queryset = narrowed
        try:
            return super().get_queryset(request, exclude_parameters)
        finally:
            self.root_queryset = everything

    def find(self, terms: Terms) -> Matches:
        return search_tickets(terms)

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Ticket]) -> list[Any]:
        """Return the queue's order, whatever the queryset is ordered by.

        Matches of a search and tickets with an open status are few among all: in the order of
        the creation time PostgreSQL might scan the whole table for them, so they go by id.
        """
        self.order = self.order_of()
        return self.order

    def order_of(self) -> list[Any]:
        if self.queue.small or self.matches:
            for column in self.get_ordering_field_columns():
                if deadline := DEADLINES.get(str(self.list_display[column])):
                    return [F(deadline).asc(nulls_last=True), "pk"]
        statuses = set(chosen_values(self.filter_params.get("status", ())))
        rare = statuses and statuses <= OPEN_STATUSES
        rare = rare or any(self.params.get(name) for name in OPEN_ONLY)
        by_id = self.matches or (rare and not self.queue.small)
        order = queues.NEWEST if by_id else self.queue.order
        return list(OLDEST.get(order, order) if self.params.get("oldest") else order)

    def get_ordering_field_columns(self) -> dict[int, Literal["desc", "asc"]]:
        """Return the index of the column that the address sorts by; always ascending."""
        name = sorted_column(self.params.get(ORDER_VAR, ""))
        columns = list(map(str, self.list_display))
        return {columns.index(name): "asc"} if name in columns else {}

    def get_query_string(
        self, new_params: dict[str, Any] | None = None, remove: Iterable[str] | None = None
    ) -> str:
        """Return the query string with other parameters; a sort is written as the column's name.

        Django passes a sort as indexes of columns, the clicked one first.
        """
        params = dict(new_params or {})
        if order := params.get(ORDER_VAR):
            place = int(order.split(".")[0].removeprefix("-"))
            params[ORDER_VAR] = str(self.list_display[place])
        return super().get_query_string(params, remove)

    def get_results(self, request: HttpRequest) -> None:
        """Do what Django's does, with a single count, the nearest page, and no "show all"."""
        paginator = cast(
            CappedPaginator,
            self.model_admin.get_paginator(
                request, with_page_token(self.queryset), self.list_per_page
            ),
        )
        page = paginator.nearest(self.page_to_show(request))
        self.page_num = page.number
        self.result_count = paginator.count
        # Equal counts keep Unfold from offering to show all.
        self.full_result_count = self.result_count
        self.show_full_result_count = False
        self.show_admin_actions = True
        self.can_show_all = False
        self.multi_page = paginator.num_pages > 1
        self.paginator = paginator
        self.result_list = rows.with_peeks(list(page.object_list))
        if self.here is not None:
            self.here = min(self.here, len(self.result_list) - 1)
        place = ListPlace.read(request.GET.urlencode())
        for ticket in self.result_list:
            key = keyset.ticket_key(ticket, self.columns)
            ticket.address = place.moved(key).ticket_address(ticket.pk)

    def page_to_show(self, request: HttpRequest) -> int:
        """Return the number of the page that the address names, directly or by a place on it."""
        at = keyset.read_key(self.params.pop("at", ""), self.columns)
        if at is None or "p" in request.GET:
            return self.page_num
        before = keyset.count_before(self.queryset, self.columns, at, MOST_COUNTED)
        if before is None:
            return 1
        self.here = before % self.list_per_page
        return before // self.list_per_page + 1


class OpenedList(TicketChangeList):
    """A list that a ticket was opened from. Only its queryset is used; it reads no rows."""

    def find(self, terms: Terms) -> Matches:
        """Return the matches of when the list was shown, so that it is walked unchanged."""
        name = hashlib.sha256(self.query.encode()).hexdigest()
        find = super().find
        return Matches(*cached(f"found:{name}", 60, lambda: (*find(terms),)))

    def get_results(self, request: HttpRequest) -> None:
        """Read no rows."""


def ticket_list(request: HttpRequest) -> TicketChangeList:
    """Return the list for the request's query string. Raises what the admin's list raises."""
    tickets = admin.site.get_model_admin(Ticket)
    return cast(TicketChangeList, tickets.get_changelist_instance(request))
