"""Retention of tracking updates, which are deleted by whole weeks, as deliveries are.

Updates of a week that are still needed are moved to the current one first, so that the week can be
dropped. Why: decision page feed-tracking-updates-lie-by-week.
"""

from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from deliveries.upkeep import pruning
from deliveries.upkeep.pruning import Log, Pruned, PruneRun

UPDATES = Log("shipments_trackingupdate", "day")
# Pages of a partition per statement: 2 MiB, some ten thousand updates.
PAGES = 250

# Shipments with old updates on some pages, and true for those that also have newer ones.
SHIPMENTS = """
SELECT old.shipment_id, EXISTS (
  SELECT FROM shipments_trackingupdate AS newer
  WHERE newer.shipment_id = old.shipment_id AND newer.day >= %(before)s)
FROM (SELECT DISTINCT shipment_id FROM {week}
  WHERE ctid >= %(first)s::tid AND ctid < %(end)s::tid AND day < %(before)s) AS old
"""
KEEP = """
UPDATE shipments_trackingupdate SET day = CURRENT_DATE
WHERE shipment_id = ANY(%s) AND day < %s
"""
COUNT_KEPT = """
SELECT count(*) FROM shipments_trackingupdate WHERE shipment_id = ANY(%s) AND day < %s
"""


def prune_updates(
    before: datetime, output: PruneRun, *, needed: QuerySet[Any, Any], only_weeks: bool
) -> Pruned:
    """Delete the tracking updates of shipments without any update since the day of `before`.

    `needed` are ids of shipments whose updates stay in any case, in a column `shipment_id`. With
    `only_weeks` only weeks are deleted that end before that day. A line of the feed that repeats a
    deleted update is new.
    """
    before = before.replace(hour=0, minute=0, second=0, microsecond=0)
    weeks = (pruning.weeks_before if only_weeks else pruning.partitions_begun_before)(
        UPDATES, before
    )
    count = keep_needed(weeks, before, needed, output)
    if count:
        verb = "would keep" if output.dry_run else "kept"
        output.tell(f"{verb} {count} old tracking updates that are still needed")
    pruned = pruning.prune_log(UPDATES, before, output, only_weeks=only_weeks)
    return pruned._replace(rows=max(0, pruned.rows - count)) if output.dry_run else pruned


def keep_needed(
    weeks: list[str], before: datetime, needed: QuerySet[Any, Any], output: PruneRun
) -> int:
    """Move the old updates of needed shipments to the current week; return their number."""
    moved_shipments: set[int] = set()
    count = 0
    with connection.cursor() as cursor:
        for week in weeks:
            shipments = SHIPMENTS.format(week=connection.ops.quote_name(week))
            for first, end in pruning.page_ranges(week, PAGES, output):
                cursor.execute(shipments, {"before": before.date(), "first": first, "end": end})
                has_newer = dict(cursor.fetchall())
                stay = {shipment for shipment, newer in has_newer.items() if newer}
                others = needed.filter(shipment_id__in=has_newer.keys() - stay)
                stay |= set(others.values_list("shipment_id", flat=True))
                if stay := stay - moved_shipments:
                    statement = COUNT_KEPT if output.dry_run else KEEP
                    cursor.execute(statement, [[*stay], before.date()])
                    count += cursor.fetchone()[0] if output.dry_run else cursor.rowcount
                    moved_shipments |= stay
    return count
