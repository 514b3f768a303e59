"""A report: the measures of a period and of the one before, and by type, carrier and agent."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.utils import timezone

from desk.reports import counting
from desk.reports.counting import DIMENSIONS, Counts, Groups, Names, Scope
from desk.reports.measures import MEASURES, OF_DECIDED, OF_OPENED

# Measures that share a statement with others of their cohort; the rest are counted one by one.
TOGETHER = (*OF_OPENED, *OF_DECIDED)
SUMS = ("amount_claimed", "amount_offered", "amount_paid")


class Money(NamedTuple):
    """Amounts of the tickets in one currency, of one carrier or (None) of all carriers."""

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
    scope: Scope
    now: Counts
    before: Counts
    groups: Groups
    # Declined tickets by reason code, in this period and the one before.
    reasons: dict[str, tuple[int, int]]
    money: list[Money]
    money_before: list[Money]
    names: Names
    counted_at: datetime


def make_report(scope: Scope) -> PeriodReport:
    earlier = scope._replace(period=scope.period.before)
    (now, groups), (before, _) = totals(scope, DIMENSIONS), totals(earlier)
    return PeriodReport(
        scope,
        now,
        before,
        groups,
        reasons(scope, earlier),
        money(scope),
        [row for row in money(earlier) if row.carrier is None],
        counting.names(),
        timezone.now(),
    )


def totals(scope: Scope, by: Sequence[str] = ()) -> tuple[Counts, Groups]:
    """Count all measures. Those whose period is in another table have few tickets."""
    total, groups = counting.count(scope, TOGETHER, by)
    rest = {slug: scope.tickets(slug).count() for slug in MEASURES if slug not in TOGETHER}
    return {**total, **rest}, groups


def reasons(scope: Scope, earlier: Scope) -> dict[str, tuple[int, int]]:
    now, before = (by_reason(one) for one in (scope, earlier))
    codes = sorted({*now, *before}, key=lambda code: (-now.get(code, 0), code))
    return {code: (now.get(code, 0), before.get(code, 0)) for code in codes}


def by_reason(scope: Scope) -> Counts:
    declined = scope.tickets("declined").filter(MEASURES["declined"].of).values("reason_code")
    return dict(counting.run(["reason_code", "count(*)"], declined, "GROUP BY 1"))


def money(scope: Scope) -> list[Money]:
    """Return the amounts by currency: first of all carriers, then of each by the paid amount."""
    tickets = (
        scope.tickets("decided").exclude(currency="").values("currency", "carrier_name", *SUMS)
    )
    rows = counting.run(
        ["currency", "carrier_name", "count(*)", *(f"coalesce(sum({name}), 0)" for name in SUMS)],
        tickets,
        "GROUP BY GROUPING SETS ((currency), (currency, carrier_name))"
        " ORDER BY 1, grouping(carrier_name) DESC, 6 DESC, 2",
    )
    return [Money(*row) for row in rows]
