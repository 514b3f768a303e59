"""Retention: DROP TABLE for whole weeks, DELETE in the week that the cutoff falls in.

The job only drops whole weeks: DELETE would read the pages of a week again each day. Every
statement is bounded, whatever the size, and committed by itself: the next run continues an
interrupted one.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import OperationalError, connection, transaction

from deliveries import statements
from deliveries.models import State
from deliveries.upkeep import rest_rows
from deliveries.upkeep.rest_rows import WEEK

BATCH = 10_000
# Pages of a partition per statement: 16 MiB.
PAGES = 2_000
WEBHOOKS_AT_ONCE = 500


class Log(NamedTuple):
    """A partitioned table and the time that decides how old a row is."""

    table: str
    time: str


class PruneRun(NamedTuple):
    """Output and mode of a run: `tell` gets a line per finished step, `show` its progress."""

    tell: Callable[[str], None]
    show: Callable[[str], None]
    dry_run: bool


class Pruned(NamedTuple):
    """Approximate number of deleted rows, and the weeks that stay because they were in use."""

    rows: int = 0
    kept_weeks: tuple[str, ...] = ()

    def merge(self, other: "Pruned") -> "Pruned":
        return Pruned(self.rows + other.rows, self.kept_weeks + other.kept_weeks)


ATTEMPTS = Log("deliveries_attempt", "started_at")
DELIVERIES = Log("deliveries_delivery", "finished_at")
EVENTS = Log("deliveries_event", "created_at")

# Estimated by the last VACUUM or ANALYZE: counting would read the whole partition.
PARTITIONS = """
SELECT child.relname, greatest(child.reltuples, 0)::bigint FROM pg_inherits
JOIN pg_class AS child ON child.oid = inhrelid
WHERE inhparent = %s::regclass ORDER BY 1
"""
COUNT_PAGES = "SELECT pg_relation_size(%s::regclass) / current_setting('block_size')::bigint"

INACTIVE = """
SELECT id FROM webhooks_webhook AS own
WHERE id > %s AND NOT (active AND (SELECT active FROM companies_company WHERE id = own.company_id))
ORDER BY id LIMIT %s
"""
# Deliveries of a webhook that has been paused, or whose company has been inactive, for longer than
# anything is kept.
ABANDONED = f"""
UPDATE deliveries_delivery SET state = {State.CANCELLED}, finished_at = created_at,
  archived_on = (created_at AT TIME ZONE 'UTC')::date, claimed_by = NULL, claimed_until = NULL
WHERE archived_on = '9999-12-31' AND id IN (
  SELECT open.id FROM deliveries_delivery_open AS open
  JOIN webhooks_webhook AS webhook ON webhook.id = open.webhook_id
  JOIN companies_company AS company ON company.id = webhook.company_id
    AND NOT (webhook.active AND company.active)
  WHERE open.webhook_id = ANY(%s) AND open.created_at < %s
  LIMIT %s FOR UPDATE OF open SKIP LOCKED)
"""  # noqa: S608 - our own text

# The oldest delivery of each of some webhooks, from the index of their logs.
OLDEST = """
WITH part AS (SELECT id FROM webhooks_webhook WHERE id > %(after)s ORDER BY id LIMIT %(most)s)
SELECT (SELECT max(id) FROM part), (
  SELECT min(first.created_at) FROM part CROSS JOIN LATERAL (
    SELECT created_at FROM deliveries_delivery
    WHERE webhook_id = part.id AND created_at < %(before)s
    ORDER BY created_at LIMIT 1) AS first)
"""


def prune(
    before: datetime,
    *,
    tell: Callable[[str], None],
    show: Callable[[str], None] = lambda text: None,
    dry_run: bool = False,
    only_weeks: bool = False,
) -> Pruned:
    """Delete attempts, finished deliveries and their events from before a time.

    With `only_weeks`, rows stay until their whole week is older than that. Waiting deliveries stay
    with their events, unless their webhook has been paused all the while: those are cancelled
    first. `tell` gets a line per finished step, `show` the progress.
    """
    run = PruneRun(tell, show, dry_run)
    if only_weeks and not any(weeks_before(log, before) for log in (ATTEMPTS, DELIVERIES, EVENTS)):
        return Pruned()
    if not dry_run:
        cancel_abandoned(before, run)
    pruned = prune_log(ATTEMPTS, before, run, only_weeks=only_weeks)
    pruned = pruned.merge(prune_log(DELIVERIES, before, run, only_weeks=only_weeks))
    if only_weeks and not weeks_before(EVENTS, before):
        return pruned
    # An event is kept as long as any of its deliveries is.
    oldest = oldest_delivery(before, run)
    return pruned.merge(prune_log(EVENTS, oldest, run, only_weeks=only_weeks))


def weeks_before(log: Log, before: datetime) -> list[str]:
    """Return the partitions of weeks that had ended by a time."""
    names = [name for name, _ in partitions_of(log.table)]
    return [name for name in names if (end := end_of(name)) is not None and end <= before]


def partitions_begun_before(log: Log, before: datetime) -> list[str]:
    """Return the partitions that may have rows from before a time."""
    ends = {name: end_of(name) for name, _ in partitions_of(log.table)}
    return [name for name, end in ends.items() if end is None or end - WEEK < before]


def cancel_abandoned(before: datetime, run: PruneRun) -> None:
    cancelled = last = 0
    while webhooks := inactive_webhooks(last):
        last = webhooks[-1]
        while True:
            with connection.cursor() as cursor:
                cursor.execute(ABANDONED, [webhooks, before, BATCH])
                count = cursor.rowcount
            if not count:
                break
            cancelled += count
            run.show(f"cancelled {cancelled}")
    if cancelled:
        run.tell(f"cancelled {cancelled} deliveries of paused webhooks")


def inactive_webhooks(after: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(INACTIVE, [after, WEBHOOKS_AT_ONCE])
        return [webhook_id for (webhook_id,) in cursor.fetchall()]


def oldest_delivery(before: datetime, run: PruneRun) -> datetime:
    """Return when the oldest remaining delivery was created, or `before` if none is older."""
    oldest, after = before, 0
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            statements.settle_plans(transaction_only=True)
            cursor.execute(OLDEST, {"after": after, "most": WEBHOOKS_AT_ONCE, "before": before})
            last, created_at = cursor.fetchone()
        if last is None:
            return oldest
        oldest, after = min(oldest, created_at or oldest), last
        run.show(f"looking for the oldest delivery: webhook {after}")


def prune_log(log: Log, before: datetime, run: PruneRun, *, only_weeks: bool = False) -> Pruned:
    pruned = Pruned()
    for name, about in partitions_of(log.table):
        end = end_of(name)
        if end is not None and end <= before:
            pruned = pruned.merge(drop_partition(name, about, run))
        elif not only_weeks and (end is None or end - WEEK <= before):
            deleted = delete_rows(name, log, before, run)
            if deleted:
                verb = "would delete" if run.dry_run else "deleted"
                run.tell(f"{verb} {deleted} rows of {name}")
            pruned = pruned.merge(Pruned(deleted))
    return pruned


def partitions_of(table: str) -> list[tuple[str, int]]:
    """Return the partitions and their approximate row counts, without that of open deliveries."""
    with connection.cursor() as cursor:
        cursor.execute(PARTITIONS, [table])
        return [(name, about) for name, about in cursor.fetchall() if not name.endswith("_open")]


def end_of(partition: str) -> datetime | None:
    """Return the end of a week's partition; None for the default partition."""
    day = partition.rpartition("_")[2]
    if not day.isdigit():
        return None
    return datetime.strptime(f"{day}+0000", "%Y%m%d%z") + WEEK


def drop_partition(partition: str, about: int, run: PruneRun) -> Pruned:
    if run.dry_run:
        run.tell(f"would drop {partition}, about {about} rows")
        return Pruned(about)
    drop = f"DROP TABLE {connection.ops.quote_name(partition)}"
    try:
        rest_rows.retry_locked(lambda: rest_rows.run([drop]))
    except OperationalError as error:
        run.tell(f"kept {partition}, which the next run will drop: {error}")
        return Pruned(kept_weeks=(partition,))
    run.tell(f"dropped {partition}, about {about} rows")
    return Pruned(about)


def delete_rows(partition: str, log: Log, before: datetime, run: PruneRun) -> int:
    """Delete older rows, or count them in a dry run, a range of pages at a time."""
    name = connection.ops.quote_name(partition)
    what = "SELECT count(*)" if run.dry_run else "DELETE"
    statement = f"{what} FROM {name} WHERE ctid >= %s::tid AND ctid < %s::tid AND {log.time} < %s"
    count = 0
    with connection.cursor() as cursor:
        for first, end in page_ranges(partition, PAGES, run):
            cursor.execute(statement, [first, end, before])
            count += cursor.fetchone()[0] if run.dry_run else cursor.rowcount
    return count


def page_ranges(partition: str, at_once: int, run: PruneRun) -> Iterator[tuple[str, str]]:
    """Yield the bounds of ranges of `at_once` pages, in order, as texts of ctid."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_PAGES, [partition])
        (pages,) = cursor.fetchone()
    for first in range(0, pages, at_once):
        yield f"({first},0)", f"({first + at_once},0)"
        run.show(f"{partition}: {min(100, 100 * (first + at_once) // pages)} %")
