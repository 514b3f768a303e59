"""How many tickets each agent received, and how even that is. Its arithmetic needs no database."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from desk.reports import figures
from desk.reports.figures import Scope
from tickets.models import Agent


class Share(NamedTuple):
    """An agent's part: what they were given beside what their capacity asks for."""

    agent: str
    capacity: int
    received: int
    share: float
    fair_share: float
    decided: int
    first_response: timedelta | None

    @property
    def ratio(self) -> float | None:
        """1 is exactly their part."""
        return self.share / self.fair_share if self.fair_share else None


class Report(NamedTuple):
    days: int
    shares: list[Share]
    most_to_least: float | None


def most_to_least(parts: Sequence[float]) -> float | None:
    """None where somebody has nothing."""
    return max(parts) / min(parts) if parts and min(parts) else None


def report(days: int, now: datetime | None = None) -> Report:
    """Everybody who could be given tickets, or was, in these days."""
    now, scope = now or timezone.now(), Scope(days)
    received = assignments_since(scope.since(now))
    decided = figures.decided_tickets(scope, now).by_user
    answers = figures.answer_times(scope, now, by="agent_id")
    agents = Agent.objects.filter(
        Q(available=True, user__is_active=True) | Q(user__username__in=received)
    )
    rows = list(agents.by_name().values_list("pk", "user", "user__username", "capacity"))
    all_received = sum(received[name] for *_, name, _ in rows) or 1
    all_capacity = sum(capacity for *_, capacity in rows) or 1
    shares = [
        Share(
            name,
            capacity,
            received[name],
            received[name] / all_received,
            capacity / all_capacity,
            decided.get(user_id, (0,))[0],
            answers.get(agent_id, figures.Times()).median,
        )
        for agent_id, user_id, name, capacity in rows
    ]
    parts = [one.received / one.capacity for one in shares if one.capacity]
    return Report(days, shares, most_to_least(parts))


def assignments_since(since: datetime) -> Counter[str]:
    """How often each agent was given a ticket, by the rule or by hand, as history tells it."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT data #>> '{agent,1}', count(*) FROM tickets_historyentry
            WHERE data ? 'agent' AND created_at >= %s GROUP BY 1
            """,
            [since],
        )
        return Counter({name: number for name, number in cursor.fetchall() if name})
