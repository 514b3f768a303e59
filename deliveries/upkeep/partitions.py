"""Tables in weeks: which weeks there are, those ahead, and what fell beside them.

What has no week falls into the default partition, whose name ends with `_rest`. PostgreSQL then
refuses to make the week, so the rows move as it is made (deliveries.upkeep.rest_rows).
Why: decision page engine-partitions-heal.
"""

import logging
import re
from datetime import date, timedelta
from typing import NamedTuple

from django.db import DatabaseError, connection
from django.utils import timezone

from deliveries.upkeep import rest_rows
from deliveries.upkeep.rest_rows import WEEK, Partitioned

logger = logging.getLogger(__name__)

WEEKS_AHEAD = 8
# With fewer than these there is something wrong: they are made eight weeks ahead.
LEAST_WEEKS_AHEAD = 2
TABLES = [
    Partitioned("deliveries_event", "created_at", "timestamptz"),
    Partitioned("deliveries_delivery", "archived_on", "date"),
    Partitioned("deliveries_attempt", "started_at", "timestamptz"),
]
RANGES = """
SELECT pg_get_expr(child.relpartbound, child.oid) FROM pg_inherits
JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = %s::regclass
"""
BOUND = re.compile(r"FROM \('(\d{4}-\d\d-\d\d)[^']*'\) TO \((?:'(\d{4}-\d\d-\d\d)|MAXVALUE)")


class PartitionsNotMade(RuntimeError):
    """Some tables lack weeks, or rows are where they do not belong; the message says why."""


class PartitionState(NamedTuple):
    """How a table is prepared: whole weeks after this one, and whether rows fell beside them."""

    table: str
    weeks_ahead: int
    has_rest: bool


def register_partitioned(table: Partitioned) -> None:
    """The app that has the table calls this in its `ready`."""
    if table not in TABLES:
        TABLES.append(table)


def make_partitions() -> int:
    """Make the weeks up to WEEKS_AHEAD, and those of rows that have none; returns how many.

    Each in a transaction of its own. Raises PartitionsNotMade after having tried all tables.
    """
    made, troubles = 0, []
    for table in TABLES:
        try:
            made += make_weeks(table)
        except DatabaseError as error:
            troubles.append(f"{table.name}: {str(error).strip().partition(chr(10))[0]}")
    if troubles:
        raise PartitionsNotMade("; ".join(troubles))
    return made


def make_weeks(table: Partitioned) -> int:
    rest_rows.clean_up(table)
    counts = rest_rows.count_by_week(table)
    missing = [week for week in coming_weeks() if not is_covered(week, ranges_of(table))]
    # First those that are there at once: then what is written from next week on has its place.
    free = [week for week in missing if week not in counts]
    for week in free:
        rest_rows.make_week(table, week)
    made = len(free)
    large = large_run(counts, ranges_of(table))
    for week in sorted(set(counts) - set(large)):
        rest_rows.make_week(table, week)
        made += 1
    if large:
        rest_rows.make_rest_a_partition(table, min(large), max(large) + WEEK)
        made += 1
    return made


def coming_weeks() -> list[date]:
    """This week and WEEKS_AHEAD more, by their Mondays."""
    today = timezone.now().date()
    monday = today - timedelta(days=today.weekday())
    return [monday + number * WEEK for number in range(WEEKS_AHEAD + 1)]


def ranges_of(table: Partitioned) -> list[tuple[date, date]]:
    """From which day to which, exclusive, each of its partitions goes; without the default."""
    with connection.cursor() as cursor:
        cursor.execute(RANGES, [table.name])
        found = [BOUND.search(expression) for (expression,) in cursor.fetchall()]
    return sorted(
        (date.fromisoformat(bound[1]), date.fromisoformat(bound[2]) if bound[2] else date.max)
        for bound in found
        if bound
    )


def is_covered(week: date, ranges: list[tuple[date, date]]) -> bool:
    return any(start <= week < end for start, end in ranges)


def large_run(counts: dict[date, int], ranges: list[tuple[date, date]]) -> list[date]:
    """The weeks that are too large to move, with all between them that no partition parts.

    Of several such runs the one with the most rows.
    """
    runs: list[list[date]] = []
    for week in sorted(counts):
        parted = not runs or any(runs[-1][-1] < start <= week for start, _ in ranges)
        if parted:
            runs.append([])
        runs[-1].append(week)
    largest = max(runs, key=lambda run: sum(counts[week] for week in run), default=[])
    few = all(counts[week] <= rest_rows.MOST_MOVED for week in largest)
    return [] if few else largest


def partition_states() -> list[PartitionState]:
    """How each table is prepared; a few milliseconds."""
    states = []
    for table in TABLES:
        ranges, ahead = ranges_of(table), 0
        for week in coming_weeks()[1:]:
            if not is_covered(week, ranges):
                break
            ahead += 1
        states.append(PartitionState(table.name, ahead, rest_rows.has_rest(table)))
    return states


def partition_troubles() -> list[str]:
    """What is wrong with the partitions, a sentence each; empty if all is well."""
    troubles = []
    for table, ahead, has_rest in partition_states():
        if ahead < LEAST_WEEKS_AHEAD:
            troubles.append(f"{table} has partitions for {ahead} weeks ahead")
        if has_rest:
            troubles.append(f"{table}_rest has rows")
    return troubles


def prepare_partitions(**_: object) -> None:
    """After `migrate`: the tables of this version exist, and their weeks."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'p'")
        known = {name for (name,) in cursor.fetchall()}
    # Only some of the migrations are applied: they were asked for by name.
    if not known.issuperset(table.name for table in TABLES):
        return
    try:
        make_partitions()
    except PartitionsNotMade as error:
        # The migrations are applied all the same, and the next worker tries again.
        logger.error("cannot make partitions: %s", error)
