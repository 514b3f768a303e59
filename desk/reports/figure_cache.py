"""Cache of reports and figures, refreshed ahead of time while leads look at them.

There is no other copy of these numbers, so they are out of date for the cache's lifetime at most.
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
from desk.reports.counting import Scope
from desk.reports.figures import SPANS, days_up_to_today, in_deployment_zone
from desk.reports.measures import Period

# A cached answer is refreshed this long before it expires: two runs of the job that does it.
AHEAD_SECONDS = 60
# Answers are refreshed ahead for this long after a lead has looked at one.
LOOKED_SECONDS = 1800


class Answer(Protocol):
    @property
    def counted_at(self) -> datetime: ...


A = TypeVar("A", bound=Answer)


class Kind(NamedTuple, Generic[A]):
    """A kind of answer: its cache prefix, lifetime in seconds, and factory."""

    name: str
    seconds: int
    make: Callable[[Scope], A]

    def key(self, scope: Scope) -> str:
        return f"{self.name}:{scope.key}"

    def answer(self, scope: Scope) -> A:
        remember(f"looked:{self.name}", LOOKED_SECONDS)
        return cached(self.key(scope), self.seconds, lambda: self.make(scope))

    def looked_at(self) -> bool:
        return cache.get(f"desk:looked:{self.name}") is not None

    def count_ahead(self, scope: Scope, _: object = None) -> None:
        """Refresh an answer before it expires, so that no lead waits for it."""
        soon = timezone.now() - timedelta(seconds=self.seconds - AHEAD_SECONDS)
        cached_answer: A | None = cache.get(f"desk:{self.key(scope)}")
        if cached_answer is None or cached_answer.counted_at <= soon:
            cache.set(f"desk:{self.key(scope)}", self.make(scope), self.seconds)


FIGURES = Kind("figures", 60, figures.count_figures_of)
FAIRNESS = Kind("fairness", 60, fairness.report)
REPORTS = Kind("report", 300, report.make_report)


class Quick(NamedTuple):
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
    """Refresh the default figures and reports; return how many.

    Does nothing while no lead has looked lately. Raises RuntimeError if all of them failed.
    """
    with in_deployment_zone():
        wanted = list(looked_at())
        if not wanted:
            return 0
        rows = FailingRows("count_figures")
        successes = sum(
            rows.do(kind.name, [name], partial(kind.count_ahead, scope))
            for kind, name, scope in wanted
        )
    if not successes:
        raise RuntimeError("; ".join(rows.failed.values()))
    return successes


def is_looked_at() -> bool:
    """Check if a lead has looked lately at figures or reports."""
    return FIGURES.looked_at() or REPORTS.looked_at()


def looked_at() -> Iterator[tuple[Kind[Any], str, Scope]]:
    if FIGURES.looked_at():
        for days in SPANS:
            yield FIGURES, f"{days}", Scope(days_up_to_today(days))
    if REPORTS.looked_at():
        for quick in quick_periods():
            yield REPORTS, str(quick.title), Scope(quick.period)
