"""What was counted is kept for a time, and counted ahead while leads look at it.

Nothing is kept beside the tickets for longer, so nothing can differ from them for longer.
"""

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from django.core.cache import cache
from django.utils import timezone
from django.utils.translation import gettext_lazy

from core.jobs.failing_rows import FailingRows
from desk.common.cache import cached, remember
from desk.common.generics import StrPromise
from desk.reports import fairness, figures, report
from desk.reports.counting import Narrowed
from desk.reports.figures import SPANS, days_up_to_today, in_deployment_zone
from desk.reports.measures import Period

# Counted again so long before it would be forgotten: two runs of the task that counts ahead.
AHEAD_SECONDS = 60
# So long after a lead has looked, what they look at first is counted ahead.
LOOKED_SECONDS = 1800


class Answer(Protocol):
    @property
    def counted_at(self) -> datetime: ...


A = TypeVar("A", bound=Answer)


class Kind(NamedTuple, Generic[A]):
    """A sort of answer, for how long it is kept, and how it is made."""

    name: str
    seconds: int
    make: Callable[[Narrowed], A]

    def key(self, asked: Narrowed) -> str:
        return f"{self.name}:{asked.key}"

    def answer(self, asked: Narrowed) -> A:
        remember(f"looked:{self.name}", LOOKED_SECONDS)
        return cached(self.key(asked), self.seconds, lambda: self.make(asked))

    def looked_at(self) -> bool:
        return cache.get(f"desk:looked:{self.name}") is not None

    def count_ahead(self, asked: Narrowed, _: object = None) -> None:
        """Count it before it ages, so that nobody waits for it."""
        soon = timezone.now() - timedelta(seconds=self.seconds - AHEAD_SECONDS)
        kept: A | None = cache.get(f"desk:{self.key(asked)}")
        if kept is None or kept.counted_at <= soon:
            cache.set(f"desk:{self.key(asked)}", self.make(asked), self.seconds)


FIGURES = Kind("figures", 60, figures.count_figures_of)
FAIRNESS = Kind("fairness", 60, fairness.report)
REPORTS = Kind("report", 300, report.make_report)


class Quick(NamedTuple):
    """A period that is a link above the report."""

    title: StrPromise
    period: Period


def quick_periods() -> list[Quick]:
    today = timezone.localdate()
    month = today.replace(day=1)
    return [
        Quick(gettext_lazy("Last 7 days"), days_up_to_today(7)),
        Quick(gettext_lazy("Last 30 days"), days_up_to_today(30)),
        Quick(gettext_lazy("This month"), Period(month, today)),
        Quick(gettext_lazy("Last month"), month_before(month)),
        Quick(gettext_lazy("Last 90 days"), days_up_to_today(90)),
    ]


def month_before(month: date) -> Period:
    last = month - timedelta(days=1)
    return Period(last.replace(day=1), last)


def count_ahead() -> int:
    """Count what leads look at first, over all tickets, before they ask; returns how many.

    Nothing while no lead has looked lately. Raises RuntimeError where none could be counted.
    """
    with in_deployment_zone():
        wanted = list(looked_at())
        if not wanted:
            return 0
        rows = FailingRows("count_figures")
        counted = sum(
            rows.do(kind.name, [name], partial(kind.count_ahead, asked))
            for kind, name, asked in wanted
        )
    if not counted:
        raise RuntimeError("; ".join(rows.failed.values()))
    return counted


def is_looked_at() -> bool:
    """Return whether a lead has looked lately at what is counted ahead."""
    return FIGURES.looked_at() or REPORTS.looked_at()


def looked_at() -> Iterator[tuple[Kind[Any], str, Narrowed]]:
    if FIGURES.looked_at():
        for days in SPANS:
            yield FIGURES, f"{days}", Narrowed(days_up_to_today(days))
    if REPORTS.looked_at():
        for quick in quick_periods():
            yield REPORTS, str(quick.title), Narrowed(quick.period)
