"""Balancing of lanes: a loop with many more than another, such as a new one, transfers some.

deliveries.engine.standing_by decides when.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from deliveries import statements
from deliveries.engine.lanes import release

# Loops that take lanes, with the number of those that they have.
COUNT = """
SELECT loop.id::text, count(lane.webhook_id) FROM deliveries_loop AS loop
JOIN deliveries_heartbeat AS heartbeat ON heartbeat.loop_id = loop.id
LEFT JOIN deliveries_lane AS lane ON lane.loop_id = loop.id
WHERE loop.takes_lanes AND heartbeat.lease_until > statement_timestamp()
GROUP BY loop.id
"""

# The heir is locked, so that whoever frees the lanes of an ending loop also finds these. A lost
# loop has no heartbeat, but after a wait for the lock only the loop's row is read again.
TRANSFER = """
WITH heir AS MATERIALIZED (
  SELECT id FROM deliveries_loop AS loop
  JOIN deliveries_heartbeat AS heartbeat ON heartbeat.loop_id = loop.id
  WHERE NOT lost AND takes_lanes AND id <> %(loop)s::uuid AND lease_until > statement_timestamp()
  ORDER BY CASE WHEN %(hand_back)s::boolean THEN 0
    ELSE (SELECT count(*) FROM deliveries_lane WHERE loop_id = loop.id) END, started_at, id
  LIMIT 1 FOR SHARE OF loop
), given AS (
  UPDATE deliveries_lane AS lane SET loop_id = heir.id, since = gift.since
  FROM heir, unnest(%(webhooks)s::bigint[], %(since)s::timestamptz[]) AS gift(webhook_id, since)
  WHERE lane.webhook_id = ANY(%(webhooks)s::bigint[]) AND lane.webhook_id = gift.webhook_id
    AND loop_id = %(loop)s::uuid
  RETURNING lane.webhook_id
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT webhook_id, statement_timestamp() FROM given
)
SELECT webhook_id FROM given
"""
INHERITED = """
SELECT webhook_id, since FROM deliveries_lane
WHERE webhook_id = ANY(%(webhooks)s::bigint[]) AND loop_id = %(loop)s::uuid AND since IS NOT NULL
"""
# Minimum lead over the smallest loop, which has the fewest lanes, before rebalancing: absolute, and
# as a part of the own lanes.
UNEVEN, UNEVEN_PART = 8, 4


def surplus(loop_id: str) -> int:
    """Return how many lanes to transfer to the smallest loop; 0 if the loops are even."""
    with statements.cursor() as cursor:
        cursor.execute(COUNT)
        counts: dict[str, int] = dict(cursor.fetchall())
    own = counts.pop(loop_id, 0)
    difference = own - min(counts.values(), default=own)
    return difference // 2 if difference > max(UNEVEN, own // UNEVEN_PART) else 0


def transfer(
    loop_id: str,
    webhook_ids: Collection[int],
    *,
    fronts: Mapping[int, datetime] | None = None,
    hand_back: bool = False,
) -> None:
    """Transfer webhooks to the smallest loop, or back to the oldest; if alone, release them.

    `fronts`: those that the other loop gets with them.
    """
    values = {
        "loop": loop_id,
        "webhooks": list(webhook_ids),
        "since": [(fronts or {}).get(webhook_id) for webhook_id in webhook_ids],
        "hand_back": hand_back,
    }
    with statements.cursor() as cursor:
        cursor.execute(TRANSFER, values)
        transferred = {webhook_id for (webhook_id,) in cursor.fetchall()}
    if remaining := set(webhook_ids) - transferred:
        release(loop_id, remaining, remaining)


def inherited(loop_id: str, webhook_ids: Collection[int]) -> dict[int, datetime]:
    """Return the fronts with which other loops have transferred webhooks to this one."""
    with statements.cursor() as cursor:
        cursor.execute(INHERITED, {"loop": loop_id, "webhooks": list(webhook_ids)})
        return dict(cursor.fetchall())
