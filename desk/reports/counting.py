"""Everything that a lead's page is made of, as numbers: in no language, so that all share it."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.utils import timezone

from desk.reports import figures
from desk.reports.figures import Backlog, Decided, Opened, Scope, Times
from tickets.models import Agent, TicketType


class CountedFigures(NamedTuple):
    scope: Scope
    at: datetime
    opened: Opened
    decided: Decided
    backlog: Backlog
    responses: Mapping[int | None, Times]
    decisions: Mapping[int | None, Times]
    types: Mapping[int, str]
    agents: Mapping[int, str]


def count_figures_of(scope: Scope, now: datetime | None = None) -> CountedFigures:
    """In seven queries, however many tickets there are."""
    now = now or timezone.now()
    return CountedFigures(
        scope,
        now,
        figures.opened_tickets(scope, now),
        figures.decided_tickets(scope, now),
        figures.backlog(scope, now),
        figures.answer_times(scope, now),
        figures.decision_times(scope, now),
        {one.pk: one.name for one in TicketType.objects.all()},
        dict(Agent.objects.values_list("pk", "user__username")),
    )
