"""Claiming of due deliveries: in order within a subject, which is a shipment or a ticket.

A claim is a lease, stored in the row itself. It ends when its loop is lost or when it expires, and
the loop's id in it is the fencing token that stops late writers. Times are the database's, so
workers whose clocks differ agree on what is due.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.conf import settings

from deliveries import statements
from deliveries.engine import clock
from deliveries.engine.fronts import BEGINNING
from deliveries.engine.loans import Claimed

# Duration of a claim as a multiple of the longest attempt: 30 seconds. The claims of a lost loop
# end with it.
LEASE_TIMEOUTS = 6
# One crash does not incriminate a delivery: workers get killed. After two lost loops in a row it is
# a suspect, and only the loop in quarantine sends suspects (deliveries.engine.quarantine). After
# MOST_CRASHES in a row it is set aside (setting_aside).
SUSPECT_CRASHES = 2
ALONE_CRASHES = 3
MOST_CRASHES = 4
# Longest time for which an event that keeps failing holds back its subject (decision W22).
HOLD = "interval '1 hour'"
# Deliveries parked behind an attempt in flight are woken when it is recorded; if that is missed,
# they are due again after this time.
PARK = "interval '1 second'"
LONGEST_PARK = "interval '5 minutes'"

# A claim begins at the front of each webhook, and tells the next one: its own time if it left none
# that were due, or else that of the first one which it was offered. A lost loop claims nothing.
# SKIP LOCKED checks only the columns of the locked row again, so every other condition is tested on
# rows that are locked already. A delivery that must wait for an earlier one of its subject is
# parked, so that the front of the queue never fills with such rows. First attempts go before
# retries; one retry is claimed in any case, since the first attempts may have to wait for it. A
# retry that was pulled forward holds back its subject however long it has been failing: all of the
# subject is sent in order. Events stored by versions without facts take both their fact id and
# their sequence number from their own id.
CLAIM = f"""
WITH turn AS (
  SELECT * FROM unnest(%(webhooks)s::bigint[], %(rooms)s::integer[], %(since)s::timestamptz[])
    AS t(webhook_id, room, since)
  WHERE EXISTS (SELECT FROM deliveries_loop WHERE id = %(loop)s::uuid AND NOT lost)
), fresh AS MATERIALIZED (
  SELECT due.* FROM turn, LATERAL (
    SELECT * FROM deliveries_delivery_open
    WHERE webhook_id = turn.webhook_id AND least(step, 1) = 0
      AND due_at BETWEEN turn.since AND statement_timestamp()
      AND (claimed_until IS NULL OR claimed_until <= statement_timestamp()
        OR claimed_by = ANY(ARRAY(SELECT id FROM deliveries_loop WHERE lost)))
    ORDER BY due_at, event_id LIMIT turn.room FOR UPDATE SKIP LOCKED) AS due
), counted AS (
  SELECT webhook_id, count(*) AS n FROM fresh GROUP BY webhook_id
), again AS MATERIALIZED (
  SELECT due.* FROM turn LEFT JOIN counted USING (webhook_id), LATERAL (
    SELECT * FROM deliveries_delivery_open
    WHERE webhook_id = turn.webhook_id AND least(step, 1) = 1
      AND due_at BETWEEN turn.since AND statement_timestamp()
      AND (claimed_until IS NULL OR claimed_until <= statement_timestamp()
        OR claimed_by = ANY(ARRAY(SELECT id FROM deliveries_loop WHERE lost)))
    ORDER BY due_at, event_id
    LIMIT greatest(turn.room - coalesce(counted.n, 0), 1) FOR UPDATE SKIP LOCKED) AS due
), offered AS MATERIALIZED (
  SELECT id, webhook_id, subject_id, subject_kind, event_id, due_at,
    crashes + (claimed_by <> ALL(
      ARRAY(SELECT id FROM deliveries_loop WHERE NOT lost)) IS TRUE)::integer AS crashes
  FROM (TABLE fresh UNION ALL TABLE again) AS due
), found AS (
  SELECT webhook_id, count(*) AS n, bool_or(crashes >= {SUSPECT_CRASHES}) AS suspects,
    extract(epoch FROM CASE WHEN count(*) < room THEN statement_timestamp()
      ELSE min(due_at) END)::float8 AS since
  FROM offered JOIN turn USING (webhook_id) GROUP BY webhook_id, room
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
  UPDATE deliveries_delivery_open AS delivery
  SET own_due_at = coalesce(own_due_at, due_at), due_at = until
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
    own_due_at > statement_timestamp() IS TRUE AS pulled, event_id, event.*
  FROM taken, LATERAL (
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
RETURNING delivery.webhook_id, delivery.due_at
"""

# Wakes up a webhook that has a delivery due in a slice of its past, and tells since when.
FIND_BEHIND = """
WITH behind AS MATERIALIZED (
  SELECT due.due_at FROM (VALUES (0), (1)) AS turn(again) CROSS JOIN LATERAL (
    SELECT due_at FROM deliveries_delivery_open
    WHERE webhook_id = %(webhook)s::bigint AND least(step, 1) = turn.again
      AND due_at >= %(since)s AND due_at < %(until)s
      AND (claimed_until IS NULL OR claimed_until <= statement_timestamp()
        OR claimed_by = ANY(ARRAY(SELECT id FROM deliveries_loop WHERE lost)))
    ORDER BY due_at LIMIT 1) AS due
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT %(webhook)s::bigint, statement_timestamp() FROM behind LIMIT 1
)
SELECT min(due_at) FROM behind
"""


class Claims(NamedTuple):
    """Claimed deliveries, webhooks that may have more of them, and those of these with suspects.

    `since`: the next front of each webhook that had any.
    """

    claimed: list[Claimed]
    more: set[int]
    suspected: set[int]
    since: dict[int, datetime]


def lease_seconds() -> float:
    timeout: float = settings.DELIVERY_TIMEOUT_SECONDS
    return LEASE_TIMEOUTS * timeout


def claim(
    loop_id: str,
    rooms: dict[int, int],
    *,
    since: Mapping[int, datetime] | None = None,
    suspects: int = 0,
) -> Claims:
    """Claim due deliveries, at most `rooms[webhook_id]` of each webhook.

    The webhooks must be lanes of this loop. `since`: the front of each; without it, claim from the
    beginning. `suspects`: maximum number of suspects, for the loop in quarantine. One that has
    crashed ALONE_CRASHES times is claimed as the only suspect.
    """
    values = parameters(loop_id, rooms, since=since, suspects=suspects)
    with statements.cursor() as cursor:
        claimed_at = clock.monotonic()
        cursor.execute(CLAIM, values, binary=True)
        rows = cursor.fetchall()
    suspected = {webhook_id for webhook_id, _, suspects, *_ in rows if suspects}
    more = {webhook_id for webhook_id, count, *_ in rows if count >= rooms[webhook_id]}
    mark = (loop_id, claimed_at)
    claimed = [Claimed._make(row[4:] + mark) for row in rows if row[4] is not None]
    # Suspects have been offered, not claimed: they are still due. A front stands in each row of its
    # webhook, and becomes a datetime once.
    seconds = {webhook_id: each for webhook_id, _, suspects, each, *_ in rows if not suspects}
    fronts = {webhook_id: just_before(each) for webhook_id, each in seconds.items()}
    return Claims(claimed, more | suspected, suspected, fronts)


def just_before(seconds: float) -> datetime:
    """Return a time of the database, read as a number, less what such a number rounds off."""
    return datetime.fromtimestamp(seconds, UTC) - timedelta(microseconds=1)


def give_back(claimed: Sequence[Claimed]) -> list[tuple[int, datetime]]:
    """End claims early, so that any loop can claim the deliveries again.

    Returns the webhook of each whose claim had not ended yet, and since when it is due.
    """
    with statements.cursor() as cursor:
        ids, claims = [each.id for each in claimed], [each.claim for each in claimed]
        cursor.execute(GIVE_BACK, {"ids": ids, "claims": claims})
        return cursor.fetchall()


def find_behind(webhook_id: int, since: datetime, until: datetime) -> datetime | None:
    """Return the first due time of a webhook's deliveries from `since` on and before `until`.

    None if nothing was due then that could be claimed. Otherwise the webhook wakes up.
    """
    with statements.cursor() as cursor:
        cursor.execute(FIND_BEHIND, {"webhook": webhook_id, "since": since, "until": until})
        (due_at,) = cursor.fetchone() or (None,)
        return due_at


def parameters(
    loop_id: str,
    rooms: dict[int, int],
    *,
    since: Mapping[int, datetime] | None = None,
    suspects: int = 0,
) -> dict[str, str | int | timedelta | list[int] | list[datetime]]:
    """Return the parameters of CLAIM."""
    fronts = since or {}
    return {
        "webhooks": list(rooms),
        "rooms": list(rooms.values()),
        "since": [fronts.get(webhook_id, BEGINNING) for webhook_id in rooms],
        "loop": loop_id,
        "lease": timedelta(seconds=lease_seconds()),
        "suspects": suspects,
    }
