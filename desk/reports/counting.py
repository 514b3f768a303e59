"""Everything that a lead's page is made of, as numbers: in no language, so that all share it."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils import timezone

from desk.reports import figures
from desk.reports.figures import Backlog, Decided, Opened, Scope, Times
from desk.reports.groups import GroupCounts, combined
from tickets.models import TicketType


class CountedFigures(NamedTuple):
    scope: Scope
    at: datetime
    opened: Opened
    decided: Decided
    backlog: Backlog
    responses: Mapping[int | None, Times]
    decisions: Mapping[int | None, Times]
    types: Mapping[int, str]
    # By user name; "" is nobody. Decisions are of who decided, the rest of who holds the ticket.
    by_agent: Mapping[str, GroupCounts]


def count_figures_of(scope: Scope, now: datetime | None = None) -> CountedFigures:
    """In seven queries, however many tickets there are."""
    now = now or timezone.now()
    opened, decided = figures.opened_tickets(scope, now), figures.decided_tickets(scope, now)
    backlog = figures.backlog(scope, now)
    people = list(User.objects.values_list("username", "pk", "agent"))
    users = {user: name for name, user, _ in people}
    agents = {agent: name for name, _, agent in people if agent is not None}
    return CountedFigures(
        scope,
        now,
        opened,
        decided,
        backlog,
        figures.answer_times(scope, now),
        figures.decision_times(scope, now),
        {one.pk: one.name for one in TicketType.objects.all()},
        combined(
            {agents.get(key, ""): number for key, number in opened.by_agent.items()},
            {users.get(key, ""): numbers for key, numbers in decided.by_user.items()},
            {agents.get(key, ""): numbers for key, numbers in backlog.by_agent.items()},
        ),
    )
