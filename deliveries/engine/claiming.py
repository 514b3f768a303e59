"""Which deliveries are sent next: in order within a subject, which is a shipment or a ticket.

A claim is a loan on the row's own columns. It ends when its loop is lost or its lease has run out,
and its mark is the fence that a late writer fails at. Time is the database's, so workers whose
clocks differ agree on what is due.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings

from deliveries import statements
from deliveries.engine import clock
from deliveries.engine.loans import Claimed

# A claim lasts so many times the longest attempt at most: 30 seconds. The claims of a loop that is
# lost end with it.
LEASE_TIMEOUTS = 6
# One crash says nothing of any delivery: workers are killed. One that a second loop in a row was
# lost with is a suspect, and only the loop in quarantine sends suspects
# (deliveries.engine.quarantine). After MOST_CRASHES in a row it is set aside (setting_aside).
SUSPECT_CRASHES = 2
ALONE_CRASHES = 3
MOST_CRASHES = 4
# A subject's later events wait this long at most for one that keeps failing (decision W22).
HOLD = "interval '1 hour'"
# What waits behind an attempt in flight is woken when that is recorded; should that be missed,
# it is looked at again after this.
PARK = "interval '1 second'"
LONGEST_PARK = "interval '5 minutes'"

# A loop that was given up claims nothing. The lock is taken on the row's own columns (SKIP LOCKED
# looks at them again once it has it); what else must hold is asked of the locked rows. One that
# must wait for an earlier delivery of its subject is parked behind it, so that the front of the
# queue never fills with such rows. First attempts go before retries; one retry goes along in any
# case, since it may be what the first attempts have to wait behind. A retry that was pulled forward
# holds back its subject, however long it has been failing: all of it is sent in order. An event of
# a version that knew no facts is a fact of its own, and its number is its id.
CLAIM = f"""
WITH turn AS (
  SELECT * FROM unnest(%(webhooks)s::bigint[], %(rooms)s::integer[]) AS t(webhook_id, room)
  WHERE EXISTS (SELECT FROM deliveries_loop WHERE id = %(loop)s::uuid AND NOT lost)
), fresh AS MATERIALIZED (
  SELECT due.* FROM turn CROSS JOIN LATERAL (
    SELECT * FROM deliveries_delivery_open
    WHERE webhook_id = turn.webhook_id AND least(step, 1) = 0
      AND due_at <= statement_timestamp()
      AND (claimed_until IS NULL OR claimed_until <= statement_timestamp()
        OR claimed_by = ANY(ARRAY(SELECT id FROM deliveries_loop WHERE lost)))
    ORDER BY due_at, event_id LIMIT turn.room FOR UPDATE SKIP LOCKED) AS due
), counted AS (
  SELECT webhook_id, count(*) AS n FROM fresh GROUP BY webhook_id
), again AS MATERIALIZED (
  SELECT due.* FROM turn LEFT JOIN counted USING (webhook_id) CROSS JOIN LATERAL (
    SELECT * FROM deliveries_delivery_open
    WHERE webhook_id = turn.webhook_id AND least(step, 1) = 1
      AND due_at <= statement_timestamp()
      AND (claimed_until IS NULL OR claimed_until <= statement_timestamp()
        OR claimed_by = ANY(ARRAY(SELECT id FROM deliveries_loop WHERE lost)))
    ORDER BY due_at, event_id
    LIMIT greatest(turn.room - coalesce(counted.n, 0), 1) FOR UPDATE SKIP LOCKED) AS due
), offered AS MATERIALIZED (
  SELECT id, webhook_id, subject_id, subject_kind, event_id,
    crashes + coalesce(claimed_by <> ALL(
      ARRAY(SELECT id FROM deliveries_loop WHERE NOT lost)), false)::integer AS crashes
  FROM (SELECT * FROM fresh UNION ALL SELECT * FROM again) AS due
), found AS MATERIALIZED (
  SELECT webhook_id, count(*) AS n, bool_or(crashes >= {SUSPECT_CRASHES}) AS suspects
  FROM offered GROUP BY webhook_id
), tried AS MATERIALIZED (
  SELECT id FROM offered WHERE crashes >= {SUSPECT_CRASHES} ORDER BY crashes DESC, event_id
  LIMIT CASE WHEN (SELECT max(crashes) FROM offered) >= {ALONE_CRASHES}
    THEN least(%(suspects)s, 1) ELSE %(suspects)s END
), candidate AS MATERIALIZED (
  SELECT * FROM offered WHERE id IN (SELECT id FROM tried)
    OR webhook_id IN (SELECT webhook_id FROM found WHERE NOT suspects)
), judged AS MATERIALIZED (
  SELECT candidate.id, candidate.webhook_id, ahead.until FROM candidate LEFT JOIN LATERAL (
    SELECT CASE
      WHEN due_at <= statement_timestamp() OR claimed_until > statement_timestamp()
        OR due_at < own_due_at
        THEN statement_timestamp() + {PARK}
      ELSE least(
        due_at, first_attempt_at + {HOLD}, statement_timestamp() + {LONGEST_PARK})
      END AS until
    FROM deliveries_delivery_open AS head
    WHERE webhook_id = candidate.webhook_id AND subject_id = candidate.subject_id
      AND subject_kind = candidate.subject_kind AND event_id < candidate.event_id
      AND (first_attempt_at IS NULL OR due_at < own_due_at
        OR first_attempt_at > statement_timestamp() - {HOLD})
    ORDER BY event_id LIMIT 1) AS ahead ON true
), parked AS (
  UPDATE deliveries_delivery_open AS delivery SET due_at = judged.until
  FROM judged WHERE delivery.id = judged.id
    AND delivery.id = ANY(ARRAY(SELECT id FROM judged WHERE until IS NOT NULL))
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT DISTINCT webhook_id, until FROM judged WHERE until IS NOT NULL
), taken AS (
  UPDATE deliveries_delivery_open AS delivery
  SET claimed_by = %(loop)s::uuid,
    claimed_until = statement_timestamp() + %(lease)s,
    crashes = candidate.crashes
  FROM candidate
  WHERE delivery.id = candidate.id
    AND delivery.id = ANY(ARRAY(SELECT id FROM judged WHERE until IS NULL))
  RETURNING delivery.*
)
SELECT found.*, delivery.*
FROM found LEFT JOIN (
  SELECT taken.id::text, webhook_id, subject_id, attempts, step, crashes,
    coalesce(own_due_at > statement_timestamp(), false) AS pulled, event_id, event.*
  FROM taken CROSS JOIN LATERAL (
    SELECT type_id, body, coalesce(fact_id, lpad(to_hex(id), 32, '0')::uuid)::text AS fact_id,
      coalesce(sequence, id) AS sequence, request_id, traceparent
    FROM deliveries_event
    WHERE id = taken.event_id AND created_at = taken.created_at LIMIT 1) AS event
) AS delivery USING (webhook_id)
ORDER BY event_id, found.webhook_id
"""  # noqa: S608 - our own text

GIVE_BACK = """
UPDATE deliveries_delivery_open AS delivery SET claimed_by = NULL, claimed_until = NULL
FROM unnest(%(ids)s::uuid[], %(claims)s::uuid[]) AS loan(id, claim)
WHERE delivery.id = ANY(%(ids)s::uuid[]) AND delivery.id = loan.id
  AND delivery.claimed_by = loan.claim
"""


class Claims(NamedTuple):
    """Deliveries on loan, webhooks that may have more, and among these webhooks with suspects."""

    claimed: list[Claimed]
    more: set[int]
    suspected: set[int]


def lease_seconds() -> float:
    timeout: float = settings.DELIVERY_TIMEOUT_SECONDS
    return LEASE_TIMEOUTS * timeout


def claim(loop_id: str, rooms: dict[int, int], *, suspects: int = 0) -> Claims:
    """Borrow due deliveries, up to as many of each webhook as it has room for.

    The webhooks must be lanes of this loop. `suspects`: how many suspects may be among them, for
    the loop in quarantine; one that has crashed ALONE_CRASHES times comes as the only suspect.
    """
    values = parameters(loop_id, rooms, suspects=suspects)
    with statements.cursor() as cursor:
        claimed_at = clock.monotonic()
        cursor.execute(CLAIM, values, binary=True)
        rows = cursor.fetchall()
    suspected = {webhook_id for webhook_id, _, suspects, *_ in rows if suspects}
    more = {webhook_id for webhook_id, found, *_ in rows if found >= rooms[webhook_id]}
    mark = (loop_id, claimed_at)
    claimed = [Claimed._make(row[3:] + mark) for row in rows if row[3] is not None]
    return Claims(claimed, more | suspected, suspected)


def give_back(claimed: Sequence[Claimed]) -> None:
    """End loans early: what was claimed and not sent is anybody's again."""
    with statements.cursor() as cursor:
        ids, claims = [each.id for each in claimed], [each.claim for each in claimed]
        cursor.execute(GIVE_BACK, {"ids": ids, "claims": claims})


def parameters(
    loop_id: str, rooms: dict[int, int], *, suspects: int = 0
) -> dict[str, str | int | timedelta | list[int]]:
    """What CLAIM wants to know."""
    return {
        "webhooks": list(rooms),
        "rooms": list(rooms.values()),
        "loop": loop_id,
        "lease": timedelta(seconds=lease_seconds()),
        "suspects": suspects,
    }
