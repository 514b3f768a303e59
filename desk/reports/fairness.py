"""Fairness of assignment: tickets that each agent received, in proportion to their capacity."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Q
from django.utils import timezone

from core.data.statements import read_rows
from desk.common.times import midnight
from desk.reports import counting
from desk.reports.counting import Scope, Times
from tickets.models import Agent


class Share(NamedTuple):
    """Tickets that an agent received, against the share that their capacity calls for."""

    agent: str
    capacity: int
    received: int
    # 1 is exactly their share; None without capacity.
    ratio: float | None
    decided: int
    first_response: timedelta | None


class Fairness(NamedTuple):
    scope: Scope
    shares: list[Share]
    # Sums over all agents; never 0.
    received: int
    capacity: int
    most_to_least: float | None
    counted_at: datetime


def most_to_least(parts: Sequence[float]) -> float | None:
    """Return the ratio of the largest part to the smallest; None if one is 0."""
    return max(parts) / min(parts) if parts and min(parts) else None


def report(scope: Scope) -> Fairness:
    """Count for all agents who are available, or received tickets in the period."""
    received = assignments_since(midnight(scope.period.first))
    _, groups = counting.count(scope, ["decided"], ["user_id"])
    answers = counting.times(scope, "opened", "first_responded_at", "user_id")
    agents = Agent.objects.filter(
        Q(available=True, user__is_active=True) | Q(user__username__in=received)
    )
    rows = list(agents.by_name().values_list("user", "user__username", "capacity"))
    all_received = sum(received[name] for _, name, _ in rows) or 1
    all_capacity = sum(capacity for *_, capacity in rows) or 1
    shares = [
        Share(
            name,
            capacity,
            received[name],
            received[name] * all_capacity / (capacity * all_received) if capacity else None,
            groups["user_id"].get(user_id, {}).get("decided", 0),
            answers.get(user_id, Times()).median,
        )
        for user_id, name, capacity in rows
    ]
    parts = [share.received / share.capacity for share in shares if share.capacity]
    most = most_to_least(parts)
    return Fairness(scope, shares, all_received, all_capacity, most, timezone.now())


def assignments_since(since: datetime) -> Counter[str]:
    """Count the assignments to each agent in the history, automatic ones and by hand."""
    rows = read_rows(
        """
        SELECT data #>> '{agent,1}', count(*) FROM tickets_historyentry
        WHERE data ? 'agent' AND created_at >= %s GROUP BY 1
        """,
        [since],
    )
    return Counter({name: number for name, number in rows if name})
