"""Reports are kept for some minutes, and those that are asked for first are counted ahead."""

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.core.cache import cache
from django.utils import timezone
from django.utils.translation import gettext_lazy

from desk.common.cache import cached
from desk.reports import report
from desk.reports.measures import Period
from desk.reports.report import Narrowed

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

FRESH_SECONDS = 300
# Counted again so long before it would be forgotten: two runs of the task that counts ahead.
AHEAD_SECONDS = 120


class Quick(NamedTuple):
    """A period that is a link above the report."""

    title: "StrPromise"
    period: Period


def quick_periods() -> list[Quick]:
    today = timezone.localdate()
    month = today.replace(day=1)
    last_month = (month - timedelta(days=1)).replace(day=1)
    return [
        Quick(gettext_lazy("Last 7 days"), Period(today - timedelta(days=6), today)),
        Quick(gettext_lazy("Last 30 days"), Period(today - timedelta(days=29), today)),
        Quick(gettext_lazy("This month"), Period(month, today)),
        Quick(gettext_lazy("Last month"), Period(last_month, month - timedelta(days=1))),
        Quick(gettext_lazy("Last 90 days"), Period(today - timedelta(days=89), today)),
    ]


def made(asked: Narrowed) -> report.PeriodReport:
    return cached(report_key(asked), FRESH_SECONDS, lambda: report.make_report(asked))


def keep_reports_ahead() -> None:
    """Count the quick periods over all tickets, in the deployment's time zone, before they age."""
    soon = timezone.now() - timedelta(seconds=FRESH_SECONDS - AHEAD_SECONDS)
    for quick in quick_periods():
        asked = Narrowed(quick.period)
        kept = cache.get(f"desk:{report_key(asked)}")
        if kept is None or kept.counted_at < soon:
            cache.set(f"desk:{report_key(asked)}", report.make_report(asked), FRESH_SECONDS)


def report_key(asked: Narrowed) -> str:
    zone, carrier = timezone.get_current_timezone_name(), asked.carrier.encode().hex()
    days = f"{asked.period.first}:{asked.period.last}:{zone}"
    return f"report:{days}:{asked.type_id}:{asked.company_id}:{carrier}"
