"""Measures of reports as conditions on tickets, which the list behind a number uses as well.

A ticket is counted in the period in which it was opened (first responses), decided (everything
about decisions), appealed or reopened; or now, while it is open.
"""

from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.dateparse import parse_date
from django.utils.translation import gettext_lazy, pgettext_lazy

from desk.common.generics import StrPromise
from desk.common.times import midnight
from tickets.models import Appeal, HistoryEntry
from tickets.models.ticket_indexes import NOT_DECIDED
from tickets.sla.clocks import FILING_SOON
from tickets.statuses import ACCEPTING, RUNNING, TERMINAL

ACCEPTED = [status.value for status in ACCEPTING]
DECIDED = [status.value for status in TERMINAL]
DECLINED = [status.value for status in TERMINAL if status not in ACCEPTING]
WAITING_FOR_US = [status.value for status in RUNNING]
# Lowest rating that counts as satisfied.
SATISFIED = 4


class Period(NamedTuple):
    """Days from the first to the last, both included, in the active time zone."""

    first: date
    last: date

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def before(self) -> "Period":
        """The period of the same length that ends the day before this one."""
        return Period(self.first - timedelta(days=self.days), self.first - timedelta(days=1))

    def within(self, field: str) -> Q:
        ends = midnight(self.last + timedelta(days=1))
        return Q(**{f"{field}__gte": midnight(self.first), f"{field}__lt": ends})


class Measure(NamedTuple):
    """A figure: its name, the condition for a period, and the condition of its tickets."""

    title: StrPromise
    during: Callable[[Period], Q]
    of: Q = Q()


def opened(period: Period) -> Q:
    return period.within("created_at")


def decided(period: Period) -> Q:
    return period.within("decided_at")


def still_open(_: Period) -> Q:
    return NOT_DECIDED


def appealed(period: Period) -> Q:
    return Q(pk__in=Appeal.objects.filter(period.within("created_at")).values("ticket"))


def reopened(period: Period) -> Q:
    moves = HistoryEntry.objects.filter(period.within("created_at"), was__in=DECIDED)
    return Q(pk__in=moves.exclude(now__in=DECIDED).values("ticket"))


DUE, SOLVE_BY = F("first_response_due_at"), F("resolution_due_at")
# For a ticket decided without a reply, the decision counts as the first response.
UNANSWERED = Q(first_responded_at=None)
MEASURES = {
    "opened": Measure(pgettext_lazy("tickets", "Opened"), opened),
    "answered_in_time": Measure(
        gettext_lazy("First response in time"),
        opened,
        Q(first_responded_at__lte=DUE) | UNANSWERED & Q(decided_at__lte=DUE),
    ),
    "answered_late": Measure(
        gettext_lazy("First response late"),
        opened,
        Q(first_responded_at__gt=DUE)
        | UNANSWERED & Q(decided_at__gt=DUE)
        | UNANSWERED
        & Q(decided_at=None, status__in=WAITING_FOR_US, first_response_due_at__lt=Now()),
    ),
    "decided": Measure(pgettext_lazy("tickets", "Decided"), decided),
    "accepted": Measure(pgettext_lazy("tickets", "Accepted"), decided, Q(status__in=ACCEPTED)),
    "declined": Measure(gettext_lazy("Declined"), decided, Q(status__in=DECLINED)),
    "resolved_in_time": Measure(
        gettext_lazy("Resolved in time"), decided, Q(decided_at__lte=SOLVE_BY)
    ),
    "resolved_late": Measure(gettext_lazy("Resolved late"), decided, Q(decided_at__gt=SOLVE_BY)),
    "rated": Measure(gettext_lazy("Rated"), decided, Q(rating__isnull=False)),
    "satisfied": Measure(
        gettext_lazy("Satisfied (4 or 5 of 5)"), decided, Q(rating__rating__gte=SATISFIED)
    ),
    "appealed": Measure(gettext_lazy("Appealed"), appealed),
    "reopened": Measure(gettext_lazy("Reopened"), reopened),
    "paid": Measure(gettext_lazy("With an amount paid"), decided, Q(amount_paid__gt=0)),
}
# Measures of the current state, without a period.
MEASURES_NOW = {
    "open": Measure(pgettext_lazy("tickets", "Open"), still_open),
    "overdue": Measure(pgettext_lazy("tickets", "Overdue"), still_open, Q(due_at__lt=Now())),
    "filing_near": Measure(
        gettext_lazy("Claim deadline near"), still_open, Q(filing_due_at__lt=Now() + FILING_SOON)
    ),
}
ALL_MEASURES = {**MEASURES, **MEASURES_NOW}
OF_OPENED = tuple(slug for slug, one in MEASURES.items() if one.during is opened)
OF_DECIDED = tuple(slug for slug, one in MEASURES.items() if one.during is decided)
OF_OPEN = tuple(MEASURES_NOW)
# Filter value for tickets without an agent or a carrier; no user name contains this character.
NOBODY = "—"
# Separates the parts of a figure's name in an address.
SEPARATOR = ":"


def figure_condition(slug: str, period: Period, reason: str = "") -> Q:
    measure = MEASURES[slug]
    coded = Q(reason_code=reason) if reason else Q()
    return measure.during(period) & measure.of & coded


def name_in_address(slug: str, period: Period, reason: str = "") -> str:
    """Encode a figure for the list's address; `from_address` parses it."""
    parts = [slug, period.first.isoformat(), period.last.isoformat(), reason]
    return SEPARATOR.join(parts if reason else parts[:3])


def from_address(text: str) -> tuple[str, Period, str] | None:
    """Parse a figure into its measure, period and reason code; None if it is invalid."""
    slug, *rest = text.split(SEPARATOR)
    if slug not in MEASURES or len(rest) not in (2, 3):
        return None
    try:
        first, last = parse_date(rest[0]), parse_date(rest[1])
        period = Period(first, last) if first and last else None
        if period is None or period.first > period.last or period.first.year < 2000:
            return None
        midnight(period.last + timedelta(days=1))
    except (ValueError, OverflowError):
        return None
    return slug, period, rest[2] if len(rest) > 2 else ""
