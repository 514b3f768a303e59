"""Retention of what the feed told: tracking updates go by whole weeks, as deliveries do.

What is still needed of a week moves to the present one first, so that the week can be dropped.
Why: decision page feed-tracking-updates-lie-by-week.
"""

from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from deliveries.upkeep import pruning
from deliveries.upkeep.pruning import Log, Pruned, Told

UPDATES = Log("shipments_trackingupdate", "day")
# Of a partition, at a time: 2 MiB, some ten thousand updates.
PAGES = 250

# The shipments of some pages, and whether anything was heard of them since.
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
    before: datetime, told: Told, *, needed: QuerySet[Any, Any], only_weeks: bool
) -> Pruned:
    """Forget the tracking updates of shipments that nothing was heard of since the day of a time.

    `needed` are ids of shipments whose updates stay all the same, in a column `shipment_id`. With
    `only_weeks` nothing goes before the whole week is older than that. A line of the feed that
    tells a forgotten update again is new.
    """
    before = before.replace(hour=0, minute=0, second=0, microsecond=0)
    weeks = (pruning.weeks_before if only_weeks else pruning.weeks_begun)(UPDATES, before)
    kept = keep_needed(weeks, before, needed, told)
    if kept:
        verb = "would keep" if told.dry_run else "kept"
        told.tell(f"{verb} {kept} old tracking updates that are still needed")
    pruned = pruning.prune_log(UPDATES, before, told, only_weeks=only_weeks)
    return pruned._replace(rows=max(0, pruned.rows - kept)) if told.dry_run else pruned


def keep_needed(weeks: list[str], before: datetime, needed: QuerySet[Any, Any], told: Told) -> int:
    """Move the old updates of shipments that are still needed to this week; returns how many."""
    done: set[int] = set()
    kept = 0
    with connection.cursor() as cursor:
        for week in weeks:
            shipments = SHIPMENTS.format(week=connection.ops.quote_name(week))
            for first, end in pruning.page_ranges(week, PAGES, told):
                cursor.execute(shipments, {"before": before.date(), "first": first, "end": end})
                heard_of = dict(cursor.fetchall())
                stay = {shipment for shipment, heard in heard_of.items() if heard}
                asked = needed.filter(shipment_id__in=heard_of.keys() - stay)
                stay |= set(asked.values_list("shipment_id", flat=True))
                if stay := stay - done:
                    cursor.execute(COUNT_KEPT if told.dry_run else KEEP, [[*stay], before.date()])
                    kept += cursor.fetchone()[0] if told.dry_run else cursor.rowcount
                    done |= stay
    return kept
