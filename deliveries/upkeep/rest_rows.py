"""Creation of weekly partitions whose rows already lie in the default partition.

A few rows move: the week's table is created, filled and attached in one transaction. With many
rows that would hold a lock for long. The default partition then becomes the partition of those
weeks as it is, and an empty one takes its place.
"""

from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from django.db import OperationalError, connection, transaction

WEEK = timedelta(days=7)
# Moving this many rows holds a lock for a few tenths of a second.
MOST_MOVED = 20_000
# A statement that waits for an exclusive lock blocks all that come after it.
LOCK_TIMEOUT = "1s"
LOCK_TRIES = 5

COUNT = """
SELECT date_trunc('week', {key} AT TIME ZONE 'UTC')::date, count(*) FROM {table}_rest GROUP BY 1
"""
COUNT_DAYS = "SELECT date_trunc('week', {key})::date, count(*) FROM {table}_rest GROUP BY 1"

MAKE = """
CREATE TABLE {week} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE
  INCLUDING INDEXES)
"""
LOCK = "LOCK TABLE {table}_rest IN ACCESS EXCLUSIVE MODE"
MOVE = """
WITH moved AS (DELETE FROM {table}_rest WHERE {key} >= {start} AND {key} < {end} RETURNING *)
INSERT INTO {week} SELECT * FROM moved
"""
ATTACH = "ALTER TABLE {table} ATTACH PARTITION {week} FOR VALUES FROM ({start}) TO ({end})"

# With a validated constraint, ATTACH PARTITION does not read the rows again.
NO_CHECK = "ALTER TABLE {table}_rest DROP CONSTRAINT IF EXISTS only_these_weeks"
CHECK = """
ALTER TABLE {table}_rest ADD CONSTRAINT only_these_weeks
  CHECK ({key} IS NOT NULL AND {key} >= {start} AND {key} < {end}) NOT VALID
"""
PROVE = "ALTER TABLE {table}_rest VALIDATE CONSTRAINT only_these_weeks"
SWAP = """
LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;
ALTER TABLE {table} DETACH PARTITION {table}_rest;
ALTER TABLE {table}_rest RENAME TO {week};
CREATE TABLE {table}_rest PARTITION OF {table} DEFAULT;
ALTER TABLE {table} ATTACH PARTITION {week} FOR VALUES FROM ({start}) TO ({end});
ALTER TABLE {week} DROP CONSTRAINT only_these_weeks
"""


class Partitioned(NamedTuple):
    """A table partitioned by whole weeks, with the name and the type of its partition key."""

    name: str
    key: str
    type: str

    def fill(self, statement: str, start: date | None = None, end: date | None = None) -> str:
        """Put the names of this table, and of a partition from day to day, into a statement."""
        midnight = " 00:00:00+00" if self.type == "timestamptz" else ""
        return statement.format(
            table=self.name,
            key=self.key,
            week=f"{self.name}_{end - WEEK:%Y%m%d}" if end else "",
            start=f"{self.type} '{start}{midnight}'",
            end=f"{self.type} '{end}{midnight}'",
        )


def has_rest(table: Partitioned) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT FROM {table.name}_rest)")  # noqa: S608 - our names
        return bool(cursor.fetchone()[0])


def count_by_week(table: Partitioned) -> dict[date, int]:
    """Count the rows of the default partition by week; the keys are Mondays."""
    if not has_rest(table):
        return {}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(table.fill(COUNT_DAYS if table.type == "date" else COUNT))
        return dict(cursor.fetchall())


def make_week(table: Partitioned, week: date) -> None:
    """Create the partition of a week and move the week's rows from the default one into it."""
    statements = (LOCK, MAKE, MOVE, ATTACH)
    retry_locked(lambda: run([table.fill(each, week, week + WEEK) for each in statements]))


def make_rest_a_partition(table: Partitioned, start: date, end: date) -> None:
    """Turn the default partition into the one of these weeks; it must hold no other rows.

    It is named after the last of them, so that its name says when all of its rows are old.
    """
    try:
        retry_locked(lambda: run([table.fill(CHECK, start, end)]))
        run([table.fill(PROVE)])
        retry_locked(lambda: run([table.fill(SWAP, start, end)]))
    finally:
        clean_up(table)


def clean_up(table: Partitioned) -> None:
    """Drop the constraint that a process killed while moving rows may have left."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM pg_constraint WHERE conname = 'only_these_weeks'"
            " AND conrelid = to_regclass(%s)",
            [f"{table.name}_rest"],
        )
        leftovers = cursor.rowcount
    if leftovers:
        retry_locked(lambda: run([table.fill(NO_CHECK)]))


def run(statements: list[str]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
        cursor.execute("SET LOCAL statement_timeout = 0")
        for statement in statements:
            cursor.execute(statement)


def retry_locked(change: Callable[[], None]) -> None:
    """Retry while the table is locked. Raises OperationalError after LOCK_TRIES."""
    for tries_left in range(LOCK_TRIES - 1, -1, -1):
        try:
            return change()
        except OperationalError:
            if not tries_left:
                raise
