"""Lanes of a loop: webhooks taken when they wake up, released when nothing is left to do.

A lane is a webhook that one loop works on, and no other loop meanwhile. A loop with many more lanes
than another, such as one that has just joined, transfers some. A wake-up is a row that tells from
when to look at a webhook. Whatever makes a delivery due writes one in the same transaction, and the
loop that consumes it looks at the webhook afterwards, so no due delivery is missed. Publishers only
insert wake-ups, so they neither wait for locks nor hold up others.
Why: decision page engine-wakes-up-by-due-time.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from deliveries import statements
from deliveries.engine import rendering
from deliveries.engine.fronts import BEGINNING
from deliveries.engine.loans import Address

# Number of due wake-ups that a loop reads from either end: those of its own lanes are the newest
# and must not wait behind thousands of first ones. Of the first ones it takes its share, so that
# all loops have equally many lanes, but always a few, as the other loops may be asleep.
SIZES = {"end": 512, "few": 16}

# A wake-up for another loop's lane is left to that loop. One for a webhook that may not be sent to
# is dropped: whatever ends a pause or a rest, or reactivates the company (decision N27), writes
# another. That one tells nothing of what appeared meanwhile, so the loop is told of dropped ones.
# num_nulls has no index, so webhooks are looked up by id whatever size of the table the planner
# assumes.
TAKE = f"""
WITH oldest AS MATERIALIZED (
  SELECT ctid AS at, webhook_id, due_at FROM deliveries_wakeup
  WHERE due_at BETWEEN %(since)s AND statement_timestamp() ORDER BY due_at LIMIT %(end)s
), newest AS MATERIALIZED (
  SELECT ctid AS at, webhook_id, due_at FROM deliveries_wakeup
  WHERE due_at BETWEEN %(since)s AND statement_timestamp()
    AND (SELECT count(*) FROM oldest) = %(end)s
  ORDER BY due_at DESC LIMIT %(end)s
), due AS MATERIALIZED (
  SELECT at, webhook_id, due_at, (SELECT loop_id FROM deliveries_lane AS lane
    WHERE lane.webhook_id = either.webhook_id) AS loop_id
  FROM (SELECT * FROM oldest UNION SELECT * FROM newest) AS either
  WHERE EXISTS (SELECT FROM deliveries_loop WHERE id = %(loop)s::uuid AND NOT lost)
), share AS MATERIALIZED (
  SELECT CASE WHEN (SELECT count(*) FROM due WHERE loop_id IS NULL) <= %(few)s THEN %(few)s
    ELSE greatest(%(few)s, ((SELECT count(*) FROM deliveries_lane)
        + (SELECT count(DISTINCT webhook_id) FROM due WHERE loop_id IS NULL))
      / greatest((SELECT count(*) FROM deliveries_loop WHERE NOT lost AND takes_lanes), 1)
      - (SELECT count(*) FROM deliveries_lane WHERE loop_id = %(loop)s::uuid))
    END AS most
), new AS MATERIALIZED (
  SELECT ctid AS at FROM deliveries_wakeup WHERE ctid = ANY(ARRAY(
    SELECT at FROM due WHERE loop_id IS NULL
      AND due_at <= statement_timestamp() - make_interval(secs => %(leave)s)
    ORDER BY due_at LIMIT (SELECT least(share.most, %(most)s) FROM share)))
  FOR UPDATE SKIP LOCKED
), heard AS (
  DELETE FROM deliveries_wakeup
  WHERE ctid = ANY(ARRAY(SELECT at FROM new
    UNION ALL SELECT at FROM due WHERE loop_id = %(loop)s::uuid)) RETURNING webhook_id, due_at
), woken AS MATERIALIZED (
  SELECT webhook_id, min(due_at) AS due_at FROM heard GROUP BY webhook_id ORDER BY webhook_id
), ready AS MATERIALIZED (
  SELECT woken.*, webhook.*, coalesce(health.failures > 0, false) AS failing,
    coalesce(health.rests > 0, false) AS probe, health.catch_up_before FROM woken
  CROSS JOIN LATERAL (
    SELECT company_id, url, auth_token, {rendering.SIGNED_WITH} AS secret, max_in_flight,
      standard_headers
    FROM webhooks_webhook AS own
    WHERE id = woken.webhook_id AND active AND num_nulls(deleted_at) = 1
      AND (SELECT active FROM companies_company WHERE id = own.company_id)
    LIMIT 1) AS webhook
  LEFT JOIN LATERAL (
    SELECT failures, rests, resting_until, catch_up_before FROM deliveries_health
    WHERE webhook_id = woken.webhook_id LIMIT 1) AS health ON true
  WHERE coalesce(health.resting_until <= statement_timestamp(), true)
), taken AS (
  INSERT INTO deliveries_lane (webhook_id, loop_id)
  SELECT webhook_id, %(loop)s::uuid FROM ready ORDER BY webhook_id
  ON CONFLICT DO NOTHING
  RETURNING webhook_id
)
SELECT first.due_at,
  (SELECT count(*) FROM due) >= %(end)s OR (SELECT count(*) FROM new) = %(most)s,
  webhook_id, company_id, webhook_id IN (SELECT webhook_id FROM taken), woken.due_at,
  company_id, url, auth_token, secret, failing, probe, max_in_flight, catch_up_before,
  standard_headers
FROM (SELECT min(due_at) AS due_at FROM oldest) AS first
LEFT JOIN (woken LEFT JOIN ready USING (webhook_id)) ON true
"""  # noqa: S608 - of our own

# Whoever writes a wake-up locks the table until its transaction ends, and no wake-up is due before
# the transaction began. The slack is for statements that have begun and not got the lock yet. A
# transaction that ended while the locks were read has no beginning, and holds back nothing; others
# whose beginning we may not see hold back everything.
SETTLED = """
SELECT least(statement_timestamp(), min(CASE
    WHEN coalesce(writer.state, 'disabled') = 'disabled' THEN to_timestamp(0)
    ELSE writer.xact_start END)) - interval '0.25 seconds'
FROM pg_locks CROSS JOIN LATERAL pg_stat_get_activity(pg_locks.pid) AS writer
WHERE locktype = 'relation' AND relation = 'deliveries_wakeup'::regclass
  AND mode = 'RowExclusiveLock'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""

FIND_BEHIND = """
SELECT due_at FROM deliveries_wakeup WHERE due_at >= %(since)s AND due_at < %(until)s
ORDER BY due_at LIMIT 1
"""

STORE_FRONTS = """
UPDATE deliveries_lane AS lane SET since = new.since
FROM unnest(%(webhooks)s::bigint[], %(since)s::timestamptz[]) AS new(webhook_id, since)
WHERE lane.webhook_id = ANY(%(webhooks)s::bigint[]) AND lane.webhook_id = new.webhook_id
  AND loop_id = %(loop)s::uuid
"""

RELEASE = """
WITH released AS (
  DELETE FROM deliveries_lane
  WHERE webhook_id = ANY(%(webhooks)s::bigint[]) AND loop_id = %(loop)s::uuid
  RETURNING webhook_id
)
INSERT INTO deliveries_wakeup (webhook_id, due_at)
SELECT webhook_id, statement_timestamp() FROM released
WHERE webhook_id = ANY(%(unfinished)s::bigint[])
"""

# Ends claims that a loop has without knowing it, because the answer to a statement was lost, and
# wakes up all of its webhooks once more. Wake-ups may be lost as well that came before the front
# with which a webhook was transferred.
RECOVER = """
WITH own AS MATERIALIZED (
  SELECT webhook_id FROM deliveries_lane WHERE loop_id = %(loop)s::uuid
), freed AS (
  UPDATE deliveries_delivery_open SET claimed_by = NULL, claimed_until = NULL
  WHERE webhook_id = ANY(ARRAY(SELECT webhook_id FROM own)) AND claimed_by = %(loop)s::uuid
    AND id <> ALL(%(on_loan)s::uuid[])
), anew AS (
  UPDATE deliveries_lane SET since = NULL
  WHERE webhook_id = ANY(ARRAY(SELECT webhook_id FROM own)) AND since IS NOT NULL
)
INSERT INTO deliveries_wakeup (webhook_id, due_at)
SELECT webhook_id, statement_timestamp() FROM own
"""

# Finds webhooks whose oldest due delivery is older than any wake-up can be: their wake-up was lost.
# It walks the index from webhook to webhook, a part at a time and downwards: at the front of each
# webhook lie dead entries of rows that were just delivered. For the same reason it leaves out
# webhooks that are lanes of a loop.
FIND_MISSED = """
WITH RECURSIVE lane AS (
  (SELECT webhook_id FROM deliveries_delivery_open WHERE webhook_id < %(before)s
   ORDER BY webhook_id DESC, least(step, 1) DESC, due_at DESC, event_id DESC LIMIT 1)
  UNION ALL
  SELECT next.webhook_id FROM lane CROSS JOIN LATERAL (
    SELECT webhook_id FROM deliveries_delivery_open WHERE webhook_id < lane.webhook_id
    ORDER BY webhook_id DESC, least(step, 1) DESC, due_at DESC, event_id DESC LIMIT 1) AS next
), part AS MATERIALIZED (
  SELECT webhook_id FROM lane LIMIT %(most)s
), nobodys AS MATERIALIZED (
  SELECT webhook_id FROM part
  WHERE NOT EXISTS (SELECT FROM deliveries_lane WHERE webhook_id = part.webhook_id)
    AND webhook_id NOT IN (
      SELECT webhook_id FROM deliveries_wakeup WHERE due_at <= statement_timestamp())
), missed AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT nobodys.webhook_id, statement_timestamp() FROM nobodys
  CROSS JOIN LATERAL (
    SELECT 1 FROM webhooks_webhook AS own
    WHERE id = nobodys.webhook_id AND active AND num_nulls(deleted_at) = 1
      AND (SELECT active FROM companies_company WHERE id = own.company_id)
    LIMIT 1) AS webhook
  LEFT JOIN LATERAL (
    SELECT resting_until FROM deliveries_health
    WHERE webhook_id = nobodys.webhook_id LIMIT 1) AS health ON true
  WHERE coalesce(health.resting_until <= statement_timestamp(), true)
    AND EXISTS (
      SELECT FROM (VALUES (0), (1)) AS turn(again) CROSS JOIN LATERAL (
        SELECT 1 FROM deliveries_delivery_open
        WHERE webhook_id = nobodys.webhook_id AND least(step, 1) = turn.again
          AND due_at <= statement_timestamp() - make_interval(secs => %(grace)s)
        LIMIT 1) AS first)
  RETURNING webhook_id
)
SELECT (SELECT min(webhook_id) FROM part), (SELECT count(*) FROM part),
  (SELECT count(*) FROM missed)
"""
FROM_THE_NEWEST = 2**63 - 1
MISSED_AFTER_SECONDS = 5.0


class Woken(NamedTuple):
    """A webhook that woke up and may be sent to.

    `is_new`: this loop has just taken it. If not, it was a lane of this loop already, or another
    loop has transferred it.
    """

    webhook_id: int
    company_id: int
    is_new: bool


class WakeUps(NamedTuple):
    """Webhooks that woke up, whether there may be more, and their addresses by webhook.

    `first`: time of the first wake-up that was due, heard or not; None if there was none.
    `heard`: each webhook whose wake-ups were consumed, also if it may not be sent to, with the time
    of the first one.
    """

    woken: list[Woken]
    more: bool
    addresses: dict[int, Address]
    first: datetime | None
    heard: dict[int, datetime]


def settled() -> datetime:
    """Return a time before which no wake-up can appear any more, some quarter of a second ago.

    It stays before the beginning of any transaction that has written one and not ended, and waits
    for nothing else. A time before all wake-ups if such a transaction does not show its beginning.
    """
    with statements.cursor() as cursor:
        cursor.execute(SETTLED)
        (until,) = cursor.fetchone() or (BEGINNING,)
        return until


def take(loop_id: str, most: int, leave: float = 0.0, *, since: datetime = BEGINNING) -> WakeUps:
    """Consume due wake-ups, at most `most` of them of webhooks that are no loop's lane.

    The latter are left to other loops until they have been due for `leave` seconds. What was due
    before `since` is not looked for.
    """
    values = {"loop": loop_id, "most": most, "leave": leave, "since": since, **SIZES}
    with statements.cursor() as cursor:
        cursor.execute(TAKE, values)
        rows = cursor.fetchall()
    (first, more, *_) = rows[0]
    heard = [row[2:] for row in rows if row[2]]
    ready = [row for row in heard if row[1]]
    addresses = {row[0]: rendering.address(*row[4:]) for row in ready if row[5]}
    woken = [Woken(*row[:3]) for row in ready]
    return WakeUps(woken, more, addresses, first, {row[0]: row[3] for row in heard})


def find_behind(since: datetime, until: datetime) -> datetime | None:
    """Return when the first wake-up is due from `since` on and before `until`; None without one."""
    with statements.cursor() as cursor:
        cursor.execute(FIND_BEHIND, {"since": since, "until": until})
        (due_at,) = cursor.fetchone() or (None,)
        return due_at


def store_fronts(loop_id: str, fronts: Mapping[int, datetime | None]) -> None:
    """Store the fronts of a loop's lanes; None for those that are worth nothing any more."""
    values = {"loop": loop_id, "webhooks": list(fronts), "since": list(fronts.values())}
    with statements.cursor() as cursor:
        cursor.execute(STORE_FRONTS, values)


def release(loop_id: str, webhook_ids: Collection[int], unfinished: Collection[int] = ()) -> None:
    """Release webhooks; those that are `unfinished` wake up again at once, for any loop."""
    values = {"loop": loop_id, "webhooks": list(webhook_ids), "unfinished": list(unfinished)}
    with statements.cursor() as cursor:
        cursor.execute(RELEASE, values)


def recover(loop_id: str, on_loan: Collection[str]) -> None:
    """End all claims but those `on_loan`, after an error of a statement that may have succeeded."""
    with statements.cursor() as cursor:
        cursor.execute(RECOVER, {"loop": loop_id, "on_loan": list(on_loan)})


def find_missed(before: int, most: int) -> tuple[int, int]:
    """Wake up webhooks that are no loop's lane and had a delivery due for MISSED_AFTER_SECONDS.

    Looks at `most` webhooks with waiting deliveries, downwards from the id `before`. Returns the
    next value of `before`, FROM_THE_NEWEST after the last webhook, and the number of lost wake-ups:
    0, unless rows were changed by hand or by a version of the service that writes no wake-ups.
    """
    values = {"before": before, "most": most, "grace": MISSED_AFTER_SECONDS}
    with statements.cursor() as cursor:
        cursor.execute(FIND_MISSED, values)
        last, looked_at, missed = cursor.fetchone() or (0, 0, 0)
    return (int(last) if looked_at == most else FROM_THE_NEWEST), int(missed)
