"""The figures of a lead's start page: opened, decided and open tickets, and times.

Days are those of the deployment's zone, so that all leads share the cached figures.
"""

from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import timezone

from desk.reports import counting
from desk.reports.counting import DIMENSIONS, Counts, Groups, Names, Scope, Times
from desk.reports.measures import Period

SPANS = (7, 28)
# Each of these is counted by an index-only scan.
SLUGS = ("opened", "decided", "accepted", "resolved_late", "open", "overdue", "filing_near")


class Figures(NamedTuple):
    scope: Scope
    total: Counts
    groups: Groups
    # By type; None is the key of all types.
    responses: dict[Any, Times]
    decisions: dict[Any, Times]
    names: Names
    counted_at: datetime


def count_figures_of(scope: Scope) -> Figures:
    """Count the figures in seven statements, however many tickets there are."""
    total, groups = counting.count(scope, SLUGS, (*DIMENSIONS, "day", "age"))
    return Figures(
        scope,
        total,
        groups,
        counting.times(scope, "opened", "first_responded_at", "type_id"),
        counting.times(scope, "decided", "decided_at", "type_id"),
        counting.names(),
        timezone.now(),
    )


def days_up_to_today(days: int) -> Period:
    today = timezone.localdate()
    return Period(today - timedelta(days=days - 1), today)


def in_deployment_zone() -> AbstractContextManager[object]:
    return timezone.override(settings.DESK_TIME_ZONE)
