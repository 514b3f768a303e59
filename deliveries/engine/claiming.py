"""Which deliveries are sent next: fair between webhooks, in order within a shipment.

A claim is a loan on the row's own columns: it ends by itself when the worker does not come back,
and its mark is the fence that a late writer fails at. Time is the database's, so workers whose
clocks differ agree on what is due.
"""

import time
from collections.abc import Sequence
from uuid import uuid4

from django.conf import settings

from deliveries import statements
from deliveries.engine.loans import Claimed, Lane

# A lease lasts so many times the longest attempt: 30 seconds. It is the time within which a
# killed worker's rows come back.
LEASE_TIMEOUTS = 6
# A shipment's later events wait this long at most for one that keeps failing (decision W22).
HOLD_SECONDS = 3600
# What waits behind an attempt in flight is woken when that is recorded; should that be missed,
# it is looked at again after this.
PARK_SECONDS = 1
LONGEST_PARK_SECONDS = 300
# No id is larger.
ANY_WEBHOOK = 2**63 - 1


# Steps from webhook to webhook in the index, however many rows each of them has waiting, and
# backwards: a backlog goes from its front, and what has gone is in the way there until the next
# vacuum. Each is looked up by itself: a join would read all webhooks to spare itself a sort.
LANES = """
WITH RECURSIVE lane AS (
  (SELECT webhook_id FROM deliveries_delivery_open
   WHERE webhook_id < %(before)s ORDER BY webhook_id DESC LIMIT 1)
  UNION ALL
  SELECT next.webhook_id FROM lane CROSS JOIN LATERAL (
    SELECT webhook_id FROM deliveries_delivery_open
    WHERE webhook_id < lane.webhook_id ORDER BY webhook_id DESC LIMIT 1) AS next
)
SELECT lane.webhook_id, coalesce(health.failures > 0, false), coalesce(health.rests > 0, false),
  webhook.active AND webhook.deleted_at IS NULL
    AND coalesce(health.resting_until <= statement_timestamp(), true)
FROM (SELECT webhook_id FROM lane LIMIT %(most)s) AS lane
CROSS JOIN LATERAL (
  SELECT active, deleted_at FROM webhooks_webhook WHERE id = lane.webhook_id LIMIT 1) AS webhook
LEFT JOIN LATERAL (
  SELECT failures, rests, resting_until FROM deliveries_health
  WHERE webhook_id = lane.webhook_id LIMIT 1) AS health ON true
"""

# The lock is taken on the row's own columns (SKIP LOCKED looks at them again once it has it);
# what else must hold is asked of the locked rows. One that must wait for an earlier delivery of
# its shipment is parked behind it, so that the front of the queue never fills with such rows.
# First attempts go before retries; one retry goes along in any case, since it may be what the
# first attempts have to wait behind.
CLAIM = """
WITH turn AS (
  SELECT * FROM unnest(%(webhooks)s::bigint[], %(rooms)s::integer[]) AS t(webhook_id, room)
), span AS (
  SELECT make_interval(secs => %(hold)s) AS hold, make_interval(secs => %(park)s) AS park,
    make_interval(secs => %(longest)s) AS longest
), fresh AS MATERIALIZED (
  SELECT due.* FROM turn CROSS JOIN LATERAL (
    SELECT id, webhook_id, shipment_id, event_id FROM deliveries_delivery_open
    WHERE webhook_id = turn.webhook_id AND least(step, 1) = 0
      AND due_at <= statement_timestamp()
      AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())
    ORDER BY due_at, event_id LIMIT turn.room FOR UPDATE SKIP LOCKED) AS due
), counted AS (
  SELECT webhook_id, count(*) AS n FROM fresh GROUP BY webhook_id
), again AS MATERIALIZED (
  SELECT due.* FROM turn LEFT JOIN counted USING (webhook_id) CROSS JOIN LATERAL (
    SELECT id, webhook_id, shipment_id, event_id FROM deliveries_delivery_open
    WHERE webhook_id = turn.webhook_id AND least(step, 1) = 1
      AND due_at <= statement_timestamp()
      AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())
    ORDER BY due_at, event_id
    LIMIT greatest(turn.room - coalesce(counted.n, 0), 1) FOR UPDATE SKIP LOCKED) AS due
), candidate AS MATERIALIZED (
  SELECT * FROM fresh UNION ALL SELECT * FROM again
), judged AS MATERIALIZED (
  SELECT candidate.id, ahead.until FROM candidate LEFT JOIN LATERAL (
    SELECT CASE
      WHEN head.due_at <= statement_timestamp() OR head.claimed_until > statement_timestamp()
        THEN statement_timestamp() + span.park
      ELSE least(
        head.due_at, head.first_attempt_at + span.hold, statement_timestamp() + span.longest)
      END AS until
    FROM deliveries_delivery_open AS head CROSS JOIN span
    WHERE head.webhook_id = candidate.webhook_id AND head.shipment_id = candidate.shipment_id
      AND head.event_id < candidate.event_id
      AND (head.first_attempt_at IS NULL
        OR head.first_attempt_at > statement_timestamp() - span.hold)
    ORDER BY head.event_id LIMIT 1) AS ahead ON true
), parked AS (
  UPDATE deliveries_delivery_open AS delivery SET due_at = judged.until
  FROM judged WHERE delivery.id = judged.id
    AND delivery.id = ANY(ARRAY(SELECT id FROM judged WHERE until IS NOT NULL))
), taken AS (
  UPDATE deliveries_delivery_open AS delivery
  SET claimed_by = %(claim)s::uuid,
    claimed_until = statement_timestamp() + make_interval(secs => %(lease)s)
  WHERE delivery.id = ANY(ARRAY(SELECT id FROM judged WHERE until IS NULL))
  RETURNING delivery.id, delivery.webhook_id, delivery.shipment_id, delivery.attempts,
    delivery.step, delivery.event_id, delivery.created_at
)
SELECT taken.id::text, taken.webhook_id, taken.shipment_id, taken.attempts, taken.step,
  event.type_id, event.body
FROM taken CROSS JOIN LATERAL (
  SELECT type_id, body FROM deliveries_event
  WHERE id = taken.event_id AND created_at = taken.created_at LIMIT 1) AS event
ORDER BY taken.event_id
"""

GIVE_BACK = """
UPDATE deliveries_delivery_open AS delivery SET claimed_by = NULL, claimed_until = NULL
FROM unnest(%(ids)s::uuid[], %(claims)s::uuid[]) AS loan(id, claim)
WHERE delivery.id = ANY(%(ids)s::uuid[]) AND delivery.id = loan.id
  AND delivery.claimed_by = loan.claim
"""


def lanes(before: int, most: int) -> tuple[list[Lane], int]:
    """Up to `most` webhooks with deliveries waiting, made before the webhook `before`, that may be
    sent to; and where to go on. 0 is the beginning, and where the last of them leads.
    """
    with statements.cursor() as cursor:
        cursor.execute(LANES, {"before": before or ANY_WEBHOOK, "most": most})
        found = sorted(cursor.fetchall(), reverse=True)
    ready = [Lane(*lane) for *lane, may_be_sent_to in found if may_be_sent_to]
    return ready, found[-1][0] if len(found) == most else 0


def lease_seconds() -> float:
    timeout: float = settings.DELIVERY_TIMEOUT_SECONDS
    return LEASE_TIMEOUTS * timeout


def claim(rooms: dict[int, int]) -> list[Claimed]:
    """Borrow due deliveries for a lease, up to so many of each webhook as it has room."""
    mark = str(uuid4())
    values = {
        "webhooks": list(rooms),
        "rooms": list(rooms.values()),
        "claim": mark,
        "lease": lease_seconds(),
        "hold": HOLD_SECONDS,
        "park": PARK_SECONDS,
        "longest": LONGEST_PARK_SECONDS,
    }
    with statements.cursor() as cursor:
        claimed_at = time.monotonic()
        cursor.execute(CLAIM, values, binary=True)
        return [Claimed._make((*row, mark, claimed_at)) for row in cursor.fetchall()]


def give_back(claimed: Sequence[Claimed]) -> None:
    """End loans early: what was claimed and not sent is anybody's again."""
    with statements.cursor() as cursor:
        ids, claims = [each.id for each in claimed], [each.claim for each in claimed]
        cursor.execute(GIVE_BACK, {"ids": ids, "claims": claims})
