"""The filters of the list of tickets. Each has an index; no filter reads all its choices."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.dateparse import parse_date
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import (
    UnfoldAdminTextInputWidget,
)

from companies.models import Company
from core.values.ids import read_id
from core.values.spellings import same_text, typed_id
from desk.common.cache import cached
from desk.common.generics import StrOrPromise
from desk.common.search_names import search_companies
from desk.common.times import midnight
from desk.models import Storm
from desk.queue import automation_lists
from desk.queue.field_filter import ChoicesFilter, FieldFilter, SelectFilter
from desk.queue.range_filters import RANGES
from desk.reports import measures
from desk.reports.measures import NOBODY
from tickets.models import Agent, Ticket, TicketType
from tickets.models.carriers import spellings_of

TYPES_FRESH_SECONDS = 60


class StatusFilter(ChoicesFilter):
    title = gettext_lazy("status")
    parameter_name = "status"

    def options(self) -> Sequence[tuple[int, StrOrPromise]]:
        return Ticket.STATUSES


class TypeFilter(ChoicesFilter):
    title = gettext_lazy("type")
    parameter_name = "type"

    def options(self) -> Sequence[tuple[int, StrOrPromise]]:
        types = TicketType.objects.only("name")
        return cached(
            "types", TYPES_FRESH_SECONDS, lambda: [(one.pk, str(one)) for one in types.all()]
        )


class TextFilter(FieldFilter):
    """A filter by a name; desk/list.js completes what is typed."""

    # Key of the names in desk.queue.autocomplete.
    names = ""

    def field(self) -> forms.Field:
        attrs = {"data-names": self.names, "autocomplete": "off"}
        return forms.CharField(
            label=capfirst(self.title),
            required=False,
            widget=UnfoldAdminTextInputWidget(attrs=attrs),
        )


class AgentFilter(TextFilter):
    title = gettext_lazy("agent")
    parameter_name = names = "agent"

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        if value == NOBODY:
            return tickets.filter(agent=None)
        ids = Agent.objects.filter(user__username=value).values_list("pk", flat=True)
        return tickets.filter(agent__in=list(ids))


class DecidedByFilter(TextFilter):
    title = gettext_lazy("decided by")
    names = "agent"
    parameter_name = "decided_by"

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        if value == NOBODY:
            return tickets.filter(decided_at__isnull=False, decided_by=None)
        ids = User.objects.filter(username=value).values_list("pk", flat=True)
        return tickets.filter(decided_by__in=list(ids))


class CompanyFilter(TextFilter):
    title = gettext_lazy("company")
    parameter_name = names = "company"

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        """Filter by the company's id or full name in any case, else by a part of its name."""
        if value.isdecimal():
            return tickets.filter(company=typed_id(value) or 0)
        ids = list(Company.objects.filter(same_text("name", value)).values_list("pk", flat=True))
        return tickets.filter(company__in=ids or [name.id for name in search_companies(value)])


class CarrierFilter(TextFilter):
    title = gettext_lazy("carrier")
    names = "carrier"
    parameter_name = "carrier_name"

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        return tickets.filter(carrier_name__in=[""] if value == NOBODY else spellings_of(value))


class DayFilter(FieldFilter):
    """A filter by a day in the reader's time zone; an invalid day does not filter."""

    def field(self) -> forms.Field:
        widget = UnfoldAdminTextInputWidget(attrs={"type": "date"})
        return forms.CharField(label=capfirst(self.title), required=False, widget=widget)

    def moment(self, value: str, later: int = 0) -> datetime | None:
        try:
            day = parse_date(value)
            if day is None:
                return None
            return midnight(day + timedelta(days=later))
        except (ValueError, OverflowError):
            return None


class OpenedFrom(DayFilter):
    title = gettext_lazy("opened from")
    parameter_name = "opened_from"

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        start = self.moment(value)
        return tickets.filter(created_at__gte=start) if start else tickets


class OpenedTo(DayFilter):
    title = gettext_lazy("opened until")
    parameter_name = "opened_to"

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        end = self.moment(value, later=1)
        return tickets.filter(created_at__lt=end) if end else tickets


class LinkedFilter(SelectFilter):
    """A filter that only links of other pages set; the form shows it only then."""

    def has_output(self) -> bool:
        return bool(self.value())

    def offered(self) -> list[tuple[str, str]]:
        return [(self.value(), self.description())]

    def description(self) -> str:
        raise NotImplementedError


class FigureFilter(LinkedFilter):
    title = gettext_lazy("report")
    parameter_name = "figure"

    def description(self) -> str:
        figure = measures.from_address(self.value())
        if figure is None:
            return gettext("unknown")
        slug, period, _ = figure
        names = {"figure": measures.MEASURES[slug].title}
        days = {"first": date_format(period.first), "last": date_format(period.last)}
        return gettext("%(figure)s, %(first)s to %(last)s") % {**names, **days}

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        figure = measures.from_address(value)
        return tickets.filter(measures.figure_condition(*figure)) if figure else tickets.none()


class StormFilter(LinkedFilter):
    """All tickets of a storm, open or not."""

    title = gettext_lazy("storm")
    parameter_name = "storm"

    def number(self) -> int:
        return read_id(self.value()) or 0

    def description(self) -> str:
        return str(Storm.objects.filter(pk=self.number()).first() or gettext("unknown"))

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        linked = Storm.tickets.through.objects.filter(storm=self.number())
        return tickets.filter(pk__in=linked.values("ticket"))


class AutomationFilter(LinkedFilter):
    title = gettext_lazy("automation")
    parameter_name = "automation"

    def description(self) -> str:
        return automation_lists.title_of(self.value())

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        return automation_lists.narrow(tickets, value)


FILTERS = (
    FigureFilter,
    StormFilter,
    AutomationFilter,
    StatusFilter,
    TypeFilter,
    AgentFilter,
    DecidedByFilter,
    CompanyFilter,
    CarrierFilter,
    *RANGES,
    OpenedFrom,
    OpenedTo,
)
# Filters that may have several values in an address.
SEVERAL = frozenset(one.parameter_name for one in FILTERS if issubclass(one, ChoicesFilter))
