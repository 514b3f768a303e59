"""A report: the measures of a period beside the period before, and by type, carrier and agent."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When
from django.utils import timezone

from desk.reports.measures import HAS_MONEY, MEASURES, OF_DECIDED, OF_OPENED, Period
from shipments.carriers import carrier_key, usual_spellings
from tickets.models import Ticket
from tickets.models.carriers import spellings_of

# Of a carrier, type or agent, or of all: how many tickets of each measure.
Counts = dict[str, int]
DIMENSIONS = ("type_id", "carrier_name", "user_id")
# Columns that tickets have where decisions have amounts and reasons (HAS_MONEY).
MONEY: tuple[str, ...] = (
    "currency",
    "carrier_name",
    "amount_claimed",
    "amount_offered",
    "amount_paid",
)
REASON: tuple[str, ...] = ("reason_code",)


class Narrowed(NamedTuple):
    """Which tickets a report is about."""

    period: Period
    type_id: int | None = None
    carrier: str = ""
    company_id: int | None = None

    def tickets(self) -> Q:
        found = Q()
        if self.type_id:
            found &= Q(type_id=self.type_id)
        if self.carrier:
            found &= Q(carrier_name__in=spellings_of(self.carrier))
        if self.company_id:
            found &= Q(company_id=self.company_id)
        return found


class Money(NamedTuple):
    """What tickets of one currency are about; of one carrier, or of all where it is None."""

    currency: str
    carrier: str | None
    tickets: int
    claimed: Decimal
    offered: Decimal
    paid: Decimal

    @property
    def sums(self) -> tuple[Decimal, Decimal, Decimal]:
        return self.claimed, self.offered, self.paid


class PeriodReport(NamedTuple):
    asked: Narrowed
    now: Counts
    before: Counts
    # By the name of the dimension, then by type, carrier or agent.
    groups: dict[str, dict[Any, Counts]]
    # How many were declined for each reason code, now and before.
    reasons: dict[str, tuple[int, int]]
    money: list[Money]
    money_before: list[Money]
    counted_at: datetime


def make_report(asked: Narrowed) -> PeriodReport:
    earlier = asked._replace(period=asked.period.before)
    groups: dict[str, dict[Any, Counts]] = {name: {} for name in DIMENSIONS}
    now = {**totals(asked, groups), **counts_elsewhere(asked)}
    return PeriodReport(
        asked,
        now,
        {**totals(earlier), **counts_elsewhere(earlier)},
        {**groups, "carrier_name": merged(groups["carrier_name"])},
        reasons(asked, earlier),
        money(asked),
        [one for one in money(earlier) if one.carrier is None],
        timezone.now(),
    )


def totals(asked: Narrowed, groups: dict[str, dict[Any, Counts]] | None = None) -> Counts:
    """The measures of all; and of each type, carrier and agent, where `groups` is given."""
    made: Counts = {}
    for slugs in (OF_OPENED, OF_DECIDED):
        for dimension, key, counts in counted(asked, slugs, grouped=groups is not None):
            if dimension is None:
                made |= counts
            elif groups is not None:
                groups[dimension].setdefault(key, {}).update(counts)
    return made


def counted(
    asked: Narrowed, slugs: Sequence[str], *, grouped: bool
) -> list[tuple[str | None, Any, Counts]]:
    """In one statement, whose conditions are those of the lists: which, of what, how many."""
    flags = {
        slug: Case(When(MEASURES[slug].of, then=1), default=0, output_field=IntegerField())
        if MEASURES[slug].of
        else Value(1)
        for slug in slugs
    }
    # A decision is of who decided, whoever holds the ticket now.
    user = F("decided_by_id") if slugs == OF_DECIDED else F("agent__user_id")
    inner = in_time(asked, slugs[0]).annotate(user_id=user).values(*DIMENSIONS).annotate(**flags)
    if grouped:
        heads = [*(f"grouping({name})" for name in DIMENSIONS), *DIMENSIONS]
        sets = ["()", *(f"({name})" for name in DIMENSIONS)]
    else:
        heads, sets = [*("1" for _ in DIMENSIONS), *("NULL" for _ in DIMENSIONS)], ["()"]
    sums = ", ".join(f'coalesce(sum("{slug}"), 0)' for slug in slugs)
    sql, values = inner.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join(heads)}, {sums} FROM ({sql}) AS counted"  # noqa: S608
            f" GROUP BY GROUPING SETS ({', '.join(sets)})",
            values,
        )
        return [counts_of_row(row, slugs) for row in cursor.fetchall()]


def counts_of_row(row: tuple[Any, ...], slugs: Sequence[str]) -> tuple[str | None, Any, Counts]:
    size = len(DIMENSIONS)
    numbers = dict(zip(slugs, map(int, row[2 * size :]), strict=True))
    for place, name in enumerate(DIMENSIONS):
        if row[place] == 0:
            return name, row[size + place], numbers
    return None, None, numbers


def in_time(asked: Narrowed, slug: str) -> QuerySet[Ticket]:
    return Ticket.objects.filter(MEASURES[slug].during(asked.period), asked.tickets()).order_by()


def counts_elsewhere(asked: Narrowed) -> Counts:
    """What belongs to a period by what is in another table: few tickets."""
    rest = (slug for slug in MEASURES if slug not in (*OF_OPENED, *OF_DECIDED))
    return {slug: in_time(asked, slug).count() for slug in rest}


def merged(groups: Mapping[str, Counts]) -> dict[str, Counts]:
    """Each carrier once, in its usual spelling."""
    names = usual_spellings({name: sum(counts.values()) for name, counts in groups.items()})
    found: dict[str, Counts] = {}
    for spelling, counts in groups.items():
        to = found.setdefault(names[carrier_key(spelling)], {})
        for slug, number in counts.items():
            to[slug] = to.get(slug, 0) + number
    return found


def reasons(asked: Narrowed, earlier: Narrowed) -> dict[str, tuple[int, int]]:
    if not HAS_MONEY:
        return {}
    now, before = (by_reason(one) for one in (asked, earlier))
    codes = sorted({*now, *before}, key=lambda code: (-now.get(code, 0), code))
    return {code: (now.get(code, 0), before.get(code, 0)) for code in codes}


def by_reason(asked: Narrowed) -> Counts:
    declined = in_time(asked, "declined").filter(MEASURES["declined"].of)
    sql, values = declined.values(*REASON).query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT reason_code, count(*) FROM ({sql}) AS declined GROUP BY 1",  # noqa: S608
            values,
        )
        return dict(cursor.fetchall())


def money(asked: Narrowed) -> list[Money]:
    """Of each currency, all together first, then its carriers by what was paid."""
    if not HAS_MONEY:
        return []
    found = in_time(asked, "decided").exclude(**{MONEY[0]: ""}).values(*MONEY)
    sql, values = found.query.sql_with_params()
    sums = ", ".join(f"coalesce(sum({name}), 0)" for name in MONEY[2:])
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT currency, carrier_name, count(*), {sums} FROM ({sql}) AS decided"  # noqa: S608
            " GROUP BY GROUPING SETS ((currency), (currency, carrier_name))"
            " ORDER BY 1, grouping(carrier_name) DESC, 6 DESC, 2",
            values,
        )
        return [Money(*row) for row in cursor.fetchall()]
