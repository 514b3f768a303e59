"""The figures of a time: counted each time, through indexes that hold all that is asked.

Nothing is kept beside the tickets, so nothing can differ from them.
"""

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import connection

from tickets.models.carriers import spellings_of
from tickets.sla.clocks import FILING_SOON
from tickets.statuses import ACCEPTING, TERMINAL

# Ages of what is open, in days: up to, and beyond the last.
AGES = (1, 3, 7, 14, 28)


class Scope(NamedTuple):
    """Which tickets, and how many days up to and including today, in the deployment's zone."""

    days: int = 7
    type_id: int | None = None
    agent_id: int | None = None
    carrier: str = ""

    def since(self, now: datetime) -> datetime:
        local = now.astimezone(ZoneInfo(settings.DESK_TIME_ZONE))
        today = local.replace(hour=0, minute=0, second=0, microsecond=0)
        return today - timedelta(days=self.days - 1)

    def narrow(self, agent: str) -> tuple[str, dict[str, Any]]:
        """The rest of a WHERE, in which `agent` is the condition on the agent, and its values."""
        wanted = {"type_id": self.type_id, "agent_id": self.agent_id}
        given: dict[str, Any] = {column: value for column, value in wanted.items() if value}
        conditions = {"type_id": "type_id = %(type_id)s", "agent_id": agent}
        parts = [f" AND {conditions[column]}" for column in given]
        if self.carrier:
            parts.append(" AND carrier_name = ANY(%(spellings)s)")
            given["spellings"] = spellings_of(self.carrier)
        return "".join(parts), given


# The tickets that count as an agent's: open ones by who holds them, decided ones by who decided.
HOLDER = "agent_id = %(agent_id)s"
DECIDER = "decided_by_id = (SELECT user_id FROM tickets_agent WHERE id = %(agent_id)s)"

Triple = tuple[int, int, int]


class Opened(NamedTuple):
    by_day: Counter[date]
    by_type: Counter[int]
    by_agent: Counter[int]
    by_carrier: Counter[str]


class Decided(NamedTuple):
    """Decisions: how many, how many of them accepted, and how many came too late.

    Grouped by the user who decided; None where that was an automation.
    """

    by_day: Counter[date]
    by_type: dict[Any, Triple]
    by_user: dict[Any, Triple]
    by_carrier: dict[Any, Triple]


class Backlog(NamedTuple):
    """What is open now: by age in days, and (open, overdue, filing near) of each."""

    by_age: list[int]
    unassigned: int
    by_type: dict[Any, Triple]
    by_agent: dict[Any, Triple]
    by_carrier: dict[Any, Triple]


# Of the time that something took: how many, the middle one, and what nine of ten stayed below.
class Times(NamedTuple):
    number: int = 0
    median: timedelta | None = None
    p90: timedelta | None = None


def opened_tickets(scope: Scope, now: datetime) -> Opened:
    rows = run_query(
        """
        SELECT (created_at AT TIME ZONE %(zone)s)::date AS day, type_id, agent_id, carrier_name,
            grouping(type_id, carrier_name) AS what, count(*)
        FROM tickets_ticket WHERE created_at >= %(since)s {narrow}
        GROUP BY GROUPING SETS ((1), (type_id, agent_id), (carrier_name))
        """,
        scope,
        now,
    )
    made = Opened(Counter(), Counter(), Counter(), Counter())
    for day, type_id, agent_id, carrier, what, number in rows:
        if what == BY_TYPE:
            made.by_type[type_id] += number
            made.by_agent[agent_id] += number
        elif what == BY_CARRIER:
            made.by_carrier[carrier] += number
        else:
            made.by_day[day] += number
    return made


def decided_tickets(scope: Scope, now: datetime) -> Decided:
    rows = run_query(
        """
        SELECT (decided_at AT TIME ZONE %(zone)s)::date AS day, type_id, decided_by_id,
            carrier_name, grouping(type_id, carrier_name) AS what, count(*),
            count(*) FILTER (WHERE status = ANY(%(accepting)s)),
            count(*) FILTER (WHERE decided_at > resolution_due_at)
        FROM tickets_ticket
        WHERE decided_at IS NOT NULL AND decided_at >= %(since)s {narrow}
        GROUP BY GROUPING SETS ((1), (type_id, decided_by_id), (carrier_name))
        """,
        scope,
        now,
        DECIDER,
    )
    made = Decided(Counter(), {}, {}, {})
    for day, type_id, user_id, carrier, what, *numbers in rows:
        if what == BY_TYPE:
            add_to(made.by_type, type_id, numbers)
            add_to(made.by_user, user_id, numbers)
        elif what == BY_CARRIER:
            add_to(made.by_carrier, carrier, numbers)
        else:
            made.by_day[day] += numbers[0]
    return made


def backlog(scope: Scope, now: datetime) -> Backlog:
    rows = run_query(
        """
        SELECT type_id, agent_id, carrier_name, age,
            grouping(type_id, carrier_name) AS what,
            count(*), count(*) FILTER (WHERE overdue), count(*) FILTER (WHERE near)
        FROM (
            SELECT type_id, agent_id, carrier_name, due_at < %(now)s AS overdue,
                filing_due_at < %(near)s AS near,
                width_bucket(created_at, %(ages)s) AS age
            FROM tickets_ticket WHERE status <> ALL(%(terminal)s) {narrow}
        ) AS open
        GROUP BY GROUPING SETS ((age), (type_id, agent_id), (carrier_name))
        """,
        scope,
        now,
    )
    made = Backlog([0] * (len(AGES) + 1), 0, {}, {}, {})
    unassigned = 0
    for type_id, agent_id, carrier, age, what, *numbers in rows:
        if what == BY_TYPE:
            add_to(made.by_type, type_id, numbers)
            add_to(made.by_agent, agent_id, numbers)
            unassigned += numbers[0] if agent_id is None else 0
        elif what == BY_CARRIER:
            add_to(made.by_carrier, carrier, numbers)
        else:
            # Older than all thresholds is bucket 0.
            made.by_age[len(AGES) - age] += numbers[0]
    return made._replace(unassigned=unassigned)


def answer_times(scope: Scope, now: datetime, by: str = "type_id") -> dict[int | None, Times]:
    """From opening to the first answer, of tickets opened in the time; None is all together."""
    return times("created_at >= %(since)s", "first_responded_at", scope, now, by)


def decision_times(scope: Scope, now: datetime) -> dict[int | None, Times]:
    """From opening to the decision, of tickets decided in the time; None is all together."""
    during = "decided_at IS NOT NULL AND decided_at >= %(since)s"
    return times(during, "decided_at", scope, now, "type_id", DECIDER)


def times(
    during: str, end: str, scope: Scope, now: datetime, by: str, agent: str = HOLDER
) -> dict[int | None, Times]:
    rows = run_query(
        f"""
        SELECT grouping({by}), {by}, count({end}),
            percentile_disc(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY {end} - created_at)
        FROM tickets_ticket WHERE {during} {{narrow}}
        GROUP BY ROLLUP ({by})
        """,  # noqa: S608 - our own columns
        scope,
        now,
        agent,
    )
    return {
        None if together else key: Times(number, *(middle or (None, None)))
        for together, key, number, middle in rows
        if together or key is not None
    }


# What grouping(type_id, carrier_name) says: a bit for each that was summed over.
BY_TYPE, BY_CARRIER = 1, 2


def add_to(to: dict[Any, Triple], key: Any, numbers: list[int]) -> None:
    first, second, third = to.get(key, (0, 0, 0))
    to[key] = (first + numbers[0], second + numbers[1], third + numbers[2])


def run_query(
    statement: str, scope: Scope, now: datetime, agent: str = HOLDER
) -> list[tuple[Any, ...]]:
    narrow, given = scope.narrow(agent)
    values = {
        "now": now,
        "zone": settings.DESK_TIME_ZONE,
        "since": scope.since(now),
        "near": now + FILING_SOON,
        "ages": sorted(now - timedelta(days=days) for days in AGES),
        "accepting": [status.value for status in ACCEPTING],
        "terminal": [status.value for status in TERMINAL],
        **given,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement.format(narrow=narrow), values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
