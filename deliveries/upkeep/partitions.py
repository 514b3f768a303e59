"""Weekly partitions: the existing ones, those ahead, and rows that have none.

Rows without a partition fall into the default one, whose name ends with `_rest`. PostgreSQL then
refuses to create their week, so the rows move as it is created (deliveries.upkeep.rest_rows).
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
# Partitions are created eight weeks ahead: with fewer than this, something is wrong.
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
    """Partitions are missing, or rows remain in a default partition; the message says why."""


class PartitionState(NamedTuple):
    """Number of whole weeks of a table after this one, and whether its default has rows."""

    table: str
    weeks_ahead: int
    has_rest: bool


def register_partitioned(table: Partitioned) -> None:
    """Register a partitioned table; its app calls this in `ready`."""
    if table not in TABLES:
        TABLES.append(table)


def make_partitions() -> int:
    """Create the weeks up to WEEKS_AHEAD, and those of rows without one; return how many.

    Each has its own transaction. Raises PartitionsNotMade after all tables were tried.
    """
    count = 0
    troubles = []
    for table in TABLES:
        try:
            count += make_weeks(table)
        except DatabaseError as error:
            troubles.append(f"{table.name}: {str(error).strip().partition(chr(10))[0]}")
    if troubles:
        raise PartitionsNotMade("; ".join(troubles))
    return count


def make_weeks(table: Partitioned) -> int:
    rest_rows.clean_up(table)
    counts = rest_rows.count_by_week(table)
    missing = [week for week in coming_weeks() if not is_covered(week, ranges_of(table))]
    # First the weeks that need no move, so that rows written from next week on have a partition.
    free = [week for week in missing if week not in counts]
    for week in free:
        rest_rows.make_week(table, week)
    count = len(free)
    large = large_run(counts, ranges_of(table))
    for week in sorted(set(counts) - set(large)):
        rest_rows.make_week(table, week)
        count += 1
    if large:
        rest_rows.make_rest_a_partition(table, min(large), max(large) + WEEK)
        count += 1
    return count


def coming_weeks() -> list[date]:
    """Return the Mondays of this week and of the WEEKS_AHEAD after it."""
    today = timezone.now().date()
    monday = today - timedelta(days=today.weekday())
    return [monday + number * WEEK for number in range(WEEKS_AHEAD + 1)]


def ranges_of(table: Partitioned) -> list[tuple[date, date]]:
    """Return the first day and the exclusive end of each partition except the default one."""
    with connection.cursor() as cursor:
        cursor.execute(RANGES, [table.name])
        bounds = [BOUND.search(expression) for (expression,) in cursor.fetchall()]
    return sorted(
        (date.fromisoformat(bound[1]), date.fromisoformat(bound[2]) if bound[2] else date.max)
        for bound in bounds
        if bound
    )


def is_covered(week: date, ranges: list[tuple[date, date]]) -> bool:
    return any(start <= week < end for start, end in ranges)


def large_run(counts: dict[date, int], ranges: list[tuple[date, date]]) -> list[date]:
    """Return the run of weeks that has too many rows to move; [] if there is none.

    A run ends where a partition begins. Of several, it is the one with the most rows.
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
    """Return the state of each table; takes a few milliseconds."""
    states = []
    for table in TABLES:
        ranges = ranges_of(table)
        ahead = 0
        for week in coming_weeks()[1:]:
            if not is_covered(week, ranges):
                break
            ahead += 1
        states.append(PartitionState(table.name, ahead, rest_rows.has_rest(table)))
    return states


def partition_troubles() -> list[str]:
    """Return the problems of the partitions, a sentence each; empty if all is well."""
    troubles = []
    for table, ahead, has_rest in partition_states():
        if ahead < LEAST_WEEKS_AHEAD:
            troubles.append(f"{table} has partitions for {ahead} weeks ahead")
        if has_rest:
            troubles.append(f"{table}_rest has rows")
    return troubles


def prepare_partitions(**_: object) -> None:
    """Create the weeks after `migrate`, when the tables of this version exist."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'p'")
        table_names = {name for (name,) in cursor.fetchall()}
    # `migrate` was run for single migrations, so some of the tables do not exist yet.
    if not table_names.issuperset(table.name for table in TABLES):
        return
    try:
        make_partitions()
    except PartitionsNotMade as error:
        # The migrations are applied all the same, and the next worker tries again.
        logger.error("cannot make partitions: %s", error)
