"""A report: the measures of a period beside the period before, and by type, carrier and agent."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from django.utils import timezone

from desk.reports import counting
from desk.reports.counting import DIMENSIONS, Counts, Groups, Names, Narrowed
from desk.reports.measures import MEASURES, OF_DECIDED, OF_OPENED

# Of a period: each in one statement with the others. The rest is counted by itself.
TOGETHER = (*OF_OPENED, *OF_DECIDED)
SUMS = ("amount_claimed", "amount_offered", "amount_paid")


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
    groups: Groups
    # How many were declined for each reason code, now and before.
    reasons: dict[str, tuple[int, int]]
    money: list[Money]
    money_before: list[Money]
    names: Names
    counted_at: datetime


def make_report(asked: Narrowed) -> PeriodReport:
    earlier = asked._replace(period=asked.period.before)
    (now, groups), (before, _) = totals(asked, DIMENSIONS), totals(earlier)
    return PeriodReport(
        asked,
        now,
        before,
        groups,
        reasons(asked, earlier),
        money(asked),
        [one for one in money(earlier) if one.carrier is None],
        counting.names(),
        timezone.now(),
    )


def totals(asked: Narrowed, by: Sequence[str] = ()) -> tuple[Counts, Groups]:
    """All measures; those that belong to a period by another table find few tickets."""
    total, groups = counting.count(asked, TOGETHER, by)
    rest = {slug: asked.tickets(slug).count() for slug in MEASURES if slug not in TOGETHER}
    return {**total, **rest}, groups


def reasons(asked: Narrowed, earlier: Narrowed) -> dict[str, tuple[int, int]]:
    now, before = (by_reason(one) for one in (asked, earlier))
    codes = sorted({*now, *before}, key=lambda code: (-now.get(code, 0), code))
    return {code: (now.get(code, 0), before.get(code, 0)) for code in codes}


def by_reason(asked: Narrowed) -> Counts:
    declined = asked.tickets("declined").filter(MEASURES["declined"].of).values("reason_code")
    return dict(counting.run(["reason_code", "count(*)"], declined, "GROUP BY 1"))


def money(asked: Narrowed) -> list[Money]:
    """Of each currency, all together first, then its carriers by what was paid."""
    found = asked.tickets("decided").exclude(currency="").values("currency", "carrier_name", *SUMS)
    rows = counting.run(
        ["currency", "carrier_name", "count(*)", *(f"coalesce(sum({name}), 0)" for name in SUMS)],
        found,
        "GROUP BY GROUPING SETS ((currency), (currency, carrier_name))"
        " ORDER BY 1, grouping(carrier_name) DESC, 6 DESC, 2",
    )
    return [Money(*row) for row in rows]
