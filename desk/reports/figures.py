"""The figures of a lead's first page: what came in, was decided and is open, and how long it took.

Days are those of the deployment's zone, so that all leads share what was counted.
"""

from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import timezone

from desk.reports import counting
from desk.reports.counting import DIMENSIONS, Counts, Groups, Names, Narrowed, Times
from desk.reports.measures import Period

SPANS = (7, 28)
# Through indexes that hold all that these ask for.
SLUGS = ("opened", "decided", "accepted", "resolved_late", "open", "overdue", "filing_near")


class Figures(NamedTuple):
    asked: Narrowed
    total: Counts
    groups: Groups
    # By type; None is all together.
    responses: dict[Any, Times]
    decisions: dict[Any, Times]
    names: Names
    counted_at: datetime


def count_figures_of(asked: Narrowed) -> Figures:
    """In seven statements, however many tickets there are."""
    total, groups = counting.count(asked, SLUGS, (*DIMENSIONS, "day", "age"))
    return Figures(
        asked,
        total,
        groups,
        counting.times(asked, "opened", "first_responded_at", "type_id"),
        counting.times(asked, "decided", "decided_at", "type_id"),
        counting.names(),
        timezone.now(),
    )


def days_up_to_today(days: int) -> Period:
    today = timezone.localdate()
    return Period(today - timedelta(days=days - 1), today)


def in_deployment_zone() -> AbstractContextManager[object]:
    return timezone.override(settings.DESK_TIME_ZONE)
