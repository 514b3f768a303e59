"""Size and age of the backlog, in queries that stay cheap however long it is."""

from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from core.models import Pulse
from deliveries import statements

# Skips through the index from webhook to webhook, however many rows of each are waiting.
LANE = """
WITH RECURSIVE lane AS (
  (SELECT webhook_id FROM deliveries_delivery_open ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT next.webhook_id FROM lane CROSS JOIN LATERAL (
    SELECT webhook_id FROM deliveries_delivery_open
    WHERE webhook_id > lane.webhook_id ORDER BY webhook_id LIMIT 1) AS next
)"""

# The webhooks that a loop works on or that have woken up; no other has a due row. Each from a front
# on: what ended before it would take long to read while a transaction stays open.
WOKEN = """
WITH either AS (
  SELECT webhook_id, since FROM deliveries_lane
  UNION ALL
  (SELECT webhook_id, NULL FROM deliveries_wakeup AS wakeup
   WHERE due_at BETWEEN (
       SELECT coalesce(min(front), '-infinity') FROM deliveries_heartbeat
       WHERE lease_until > statement_timestamp()) AND statement_timestamp()
     AND EXISTS (
     SELECT FROM webhooks_webhook AS own
     WHERE id = wakeup.webhook_id AND active AND num_nulls(deleted_at) = 1
       AND (SELECT active FROM companies_company WHERE id = own.company_id))
   ORDER BY due_at LIMIT %(woken)s)
), woken AS (
  SELECT webhook_id, coalesce(max(since), '-infinity') AS since FROM either GROUP BY webhook_id
)"""
# Wake-ups are consumed within moments. If no loop consumes them, the oldest ones are enough.
MOST_WOKEN = 1_000

# The first due row, first attempt or retry, of each of them. A row that a rest has delayed counts
# as due since the rest's end.
OLDEST_DUE = f"""{WOKEN}
SELECT min(greatest(first.due_at, resting_until)) FILTER (WHERE turn.again = 0),
  min(greatest(first.due_at, resting_until)) FILTER (WHERE turn.again = 1)
FROM woken
CROSS JOIN LATERAL (
  SELECT 1 FROM webhooks_webhook AS own
  WHERE id = woken.webhook_id AND active AND num_nulls(deleted_at) = 1
    AND (SELECT active FROM companies_company WHERE id = own.company_id)
  LIMIT 1) AS webhook
LEFT JOIN LATERAL (
  SELECT resting_until FROM deliveries_health
  WHERE webhook_id = woken.webhook_id LIMIT 1) AS health ON true
CROSS JOIN (VALUES (0), (1)) AS turn(again)
CROSS JOIN LATERAL (
  SELECT due_at FROM deliveries_delivery_open
  WHERE webhook_id = woken.webhook_id AND least(step, 1) = turn.again
    AND due_at BETWEEN woken.since AND statement_timestamp()
  ORDER BY due_at LIMIT 1) AS first
WHERE coalesce(health.resting_until <= statement_timestamp(), true)
"""  # noqa: S608 - our own text

# Exact counting would read every row of a long backlog at every scrape, and every dead row that a
# transaction keeps: a table beyond SMALL_BYTES is estimated. A crash makes PostgreSQL forget how
# many rows live, until the next vacuum; reltuples is older, and stays.
COUNT_EXACTLY_BELOW = 10_000
SMALL_BYTES = 64 * 2**20
COUNT = """
SELECT CASE WHEN pg_relation_size(oid) <= %(small)s THEN (
    SELECT count(*) FROM (SELECT 1 FROM deliveries_delivery_open LIMIT %(most)s) AS counted) END,
  CASE WHEN num_nonnulls(
    pg_stat_get_last_autovacuum_time(oid), pg_stat_get_last_vacuum_time(oid),
    pg_stat_get_last_autoanalyze_time(oid), pg_stat_get_last_analyze_time(oid)) > 0
  THEN pg_stat_get_live_tuples(oid) ELSE reltuples END::bigint
FROM pg_class WHERE oid = 'deliveries_delivery_open'::regclass
"""

# Takes a few thousand rows of random pages as a sample, from SMALL_BYTES at most; or the first
# rows, if the table has grown since its size was estimated.
SAMPLE = """
WITH sampled AS (
  SELECT webhook_id, least(step, 1) AS again
  FROM deliveries_delivery_open TABLESAMPLE SYSTEM (least(
    %(percent)s, 100.0 * %(small)s / (1 + pg_relation_size('deliveries_delivery_open'))))
  LIMIT %(most)s
), counted AS (
  SELECT webhook_id, again, count(*) AS number FROM sampled GROUP BY webhook_id, again
)
SELECT CASE
    WHEN NOT webhook.active OR webhook.deleted_at IS NOT NULL OR NOT company.active THEN 'paused'
    WHEN health.resting_until > statement_timestamp() THEN 'resting'
    WHEN again = 0 THEN 'first_attempt' ELSE 'retry' END,
  sum(number)
FROM counted
JOIN webhooks_webhook AS webhook ON webhook.id = counted.webhook_id
JOIN companies_company AS company ON company.id = webhook.company_id
LEFT JOIN deliveries_health AS health ON health.webhook_id = counted.webhook_id
GROUP BY 1
"""
SAMPLE_ROWS = 3_000
KINDS = ("first_attempt", "retry", "resting", "paused")

# One or two failures happen to every receiver.
MANY_FAILURES = 3

# Between two attempts a webhook rests for minutes at most, and its next retry may be hours away: so
# the number of resting webhooks says little about how many receivers are down.
UNWELL = """
SELECT count(*) FILTER (WHERE failures >= %s AND EXISTS (
    SELECT FROM webhooks_webhook AS webhook
    JOIN companies_company AS company ON company.id = webhook.company_id
    WHERE webhook.id = webhook_id AND webhook.active AND webhook.deleted_at IS NULL
      AND company.active)
    AND EXISTS (SELECT FROM deliveries_delivery_open AS waiting
      WHERE waiting.webhook_id = health.webhook_id)),
  count(*) FILTER (WHERE resting_until > statement_timestamp())
FROM deliveries_health AS health WHERE failures > 0
"""


class Unwell(NamedTuple):
    """Numbers of webhooks that fail; one that waits because of our own fault is in neither.

    `failing`: with deliveries waiting, and MANY_FAILURES or more since the last success, whether
    in an attempt, resting or waiting for a retry. `resting`: sent nothing at this moment.
    """

    failing: int
    resting: int


class OldestDue(NamedTuple):
    """Time when the longest-due delivery of each kind became due; None if none is due."""

    first_attempt: datetime | None
    retry: datetime | None


def oldest_due() -> datetime | None:
    """Return since when the longest-due delivery of active, not resting webhooks has been due."""
    return min(filter(None, oldest_due_by_kind()), default=None)


def oldest_due_by_kind() -> OldestDue:
    """Return `oldest_due` for first attempts and for retries."""
    with transaction.atomic():
        statements.settle_plans(transaction_only=True)
        with connection.cursor() as cursor:
            cursor.execute(OLDEST_DUE, {"woken": MOST_WOKEN})
            return OldestDue(*cursor.fetchone())


def count_waiting() -> int:
    """Count unfinished deliveries: exactly below COUNT_EXACTLY_BELOW, else by an estimate.

    Of a table of more than SMALL_BYTES, of which most may be dead rows, it is always an estimate.
    """
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"small": SMALL_BYTES, "most": COUNT_EXACTLY_BELOW})
        count, estimate = cursor.fetchone()
    is_exact = count is not None and count < COUNT_EXACTLY_BELOW
    return int(count if is_exact else max(count or 0, estimate))


def count_waiting_by_kind(waiting: int) -> dict[str, int]:
    """Split the result of `count_waiting` into KINDS, in the proportions of a sample."""
    percent = 100.0 if waiting < COUNT_EXACTLY_BELOW else 100.0 * SAMPLE_ROWS / waiting
    with connection.cursor() as cursor:
        values = {"percent": percent, "small": SMALL_BYTES, "most": COUNT_EXACTLY_BELOW}
        cursor.execute(SAMPLE, values)
        sampled = {kind: int(number) for kind, number in cursor.fetchall()}
    sample_size = sum(sampled.values())
    return {kind: round(waiting * sampled.get(kind, 0) / max(sample_size, 1)) for kind in KINDS}


def count_unwell() -> Unwell:
    with connection.cursor() as cursor:
        cursor.execute(UNWELL, [MANY_FAILURES])
        return Unwell(*cursor.fetchone())


def last_pulse() -> datetime | None:
    """Return when a scheduler last began a sweep, a job that no doorbell starts."""
    return Pulse.objects.filter(name="sweep").values_list("begun_at", flat=True).first()
