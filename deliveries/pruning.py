"""Retention. Whole weeks are removed by DROP TABLE, part of a week by DELETE."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Min

from deliveries.models import Delivery

BATCH = 10_000


class Log(NamedTuple):
    """A partitioned table and the time that decides how old a row is."""

    table: str
    time: str


ATTEMPTS = Log("deliveries_attempt", "started_at")
DELIVERIES = Log("deliveries_delivery", "finished_at")
EVENTS = Log("deliveries_event", "created_at")

PARTITIONS = """
SELECT child.relname FROM pg_inherits
JOIN pg_class AS child ON child.oid = inhrelid
WHERE inhparent = %s::regclass ORDER BY 1
"""

# Open deliveries of paused webhooks that are older than the retention.
ABANDONED = """
UPDATE deliveries_delivery SET state = 3, finished_at = created_at,
  archived_on = (created_at AT TIME ZONE 'UTC')::date, claimed_by = NULL, claimed_until = NULL
WHERE archived_on = '9999-12-31' AND id IN (
  SELECT open.id FROM deliveries_delivery_open AS open
  JOIN webhooks_webhook AS webhook ON webhook.id = open.webhook_id AND NOT webhook.active
  WHERE open.created_at < %s LIMIT %s FOR UPDATE OF open SKIP LOCKED)
"""


def prune(before: datetime, *, tell: Callable[[str], None], dry_run: bool = False) -> None:
    """Delete attempts, finished deliveries and their events from before a time.

    Waiting deliveries and their events are kept, but those of a paused webhook are cancelled
    first, and then deleted too. `tell` is called with a line for each step.
    """
    if not dry_run:
        cancel_abandoned(before, tell)
    prune_log(ATTEMPTS, before, tell, dry_run)
    prune_log(DELIVERIES, before, tell, dry_run)
    # Keep an event as long as one of its deliveries.
    oldest = Delivery.objects.aggregate(oldest=Min("created_at"))["oldest"]
    prune_log(EVENTS, min(before, oldest) if oldest else before, tell, dry_run)


def cancel_abandoned(before: datetime, tell: Callable[[str], None]) -> None:
    cancelled = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(ABANDONED, [before, BATCH])
            cancelled += cursor.rowcount
            if cursor.rowcount == 0:
                break
    if cancelled:
        tell(f"cancelled {cancelled} deliveries of paused webhooks")


def prune_log(log: Log, before: datetime, tell: Callable[[str], None], dry_run: bool) -> None:
    for name in partitions(log.table):
        end = end_of(name)
        if end is not None and end <= before:
            tell(f"{'would drop' if dry_run else 'dropped'} table {name} ({count_rows(name)} rows)")
            if not dry_run:
                drop_partition(name)
        elif end is None or end - timedelta(days=7) <= before:
            deleted = count_rows(name, log, before) if dry_run else delete_rows(name, log, before)
            if deleted:
                tell(f"{'would delete' if dry_run else 'deleted'} {deleted} rows of table {name}")


def partitions(table: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(PARTITIONS, [table])
        return [name for (name,) in cursor.fetchall() if not name.endswith("_open")]


def end_of(partition: str) -> datetime | None:
    """The end of the week of a partition; None for the default partition."""
    day = partition.rpartition("_")[2]
    if not day.isdigit():
        return None
    return datetime.strptime(f"{day}+0000", "%Y%m%d%z") + timedelta(days=7)


def drop_partition(partition: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        # While a drop waits for a long query, all other queries of the table wait behind it.
        cursor.execute("SET LOCAL lock_timeout = '5s'")
        cursor.execute(f"DROP TABLE {connection.ops.quote_name(partition)}")


def count_rows(partition: str, log: Log | None = None, before: datetime | None = None) -> int:
    name = connection.ops.quote_name(partition)
    where, values = (f"WHERE {log.time} < %s", [before]) if log else ("", [])
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {name} {where}", values)  # noqa: S608 - our names
        return int(cursor.fetchone()[0])


def delete_rows(partition: str, log: Log, before: datetime) -> int:
    name = connection.ops.quote_name(partition)
    deleted = 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(
                f"DELETE FROM {name} WHERE ctid = ANY(ARRAY("  # noqa: S608 - our names
                f"SELECT ctid FROM {name} WHERE {log.time} < %s LIMIT %s))",
                [before, BATCH],
            )
            removed: int = cursor.rowcount
            deleted += removed
            if removed == 0:
                return deleted
