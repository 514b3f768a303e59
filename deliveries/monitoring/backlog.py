"""What waits, and for how long: questions that stay cheap however long the queue is."""

from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone

from deliveries import statements
from deliveries.models import Health, Pulse

# From webhook to webhook in the index, however many rows each of them has waiting.
LANE = """
WITH RECURSIVE lane AS (
  (SELECT webhook_id FROM deliveries_delivery_open ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT next.webhook_id FROM lane CROSS JOIN LATERAL (
    SELECT webhook_id FROM deliveries_delivery_open
    WHERE webhook_id > lane.webhook_id ORDER BY webhook_id LIMIT 1) AS next
)"""

# The first due row, first attempt or retry, of each webhook that a loop works on or that has woken
# up. Nothing is due of any other.
OLDEST_DUE = """
WITH woken AS (
  SELECT webhook_id FROM deliveries_lane
  UNION
  (SELECT webhook_id FROM deliveries_wakeup AS wakeup
   WHERE due_at <= statement_timestamp() AND EXISTS (
     SELECT FROM webhooks_webhook AS own
     WHERE id = wakeup.webhook_id AND active AND num_nulls(deleted_at) = 1
       AND (SELECT active FROM companies_company WHERE id = own.company_id))
   ORDER BY due_at LIMIT %(most)s)
)
SELECT min(first.due_at) FROM woken
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
    AND due_at <= statement_timestamp()
  ORDER BY due_at LIMIT 1) AS first
WHERE coalesce(health.resting_until <= statement_timestamp(), true)
"""
# Wake-ups are consumed within moments. Should nobody consume them, the oldest tell enough.
MOST_WOKEN = 1_000

# Exact counting would read every row of a long backlog at every scrape.
COUNT_EXACTLY_BELOW = 10_000
ESTIMATE = "SELECT reltuples::bigint FROM pg_class WHERE oid = 'deliveries_delivery_open'::regclass"
COUNT = "SELECT count(*) FROM (SELECT 1 FROM deliveries_delivery_open LIMIT %s) AS counted"


def oldest_due() -> datetime | None:
    """Since when the longest-due delivery waits, of webhooks that are active and not resting."""
    with transaction.atomic():
        statements.settle_plans(transaction_only=True)
        with connection.cursor() as cursor:
            cursor.execute(OLDEST_DUE, {"most": MOST_WOKEN})
            due: datetime | None = cursor.fetchone()[0]
            return due


def count_waiting() -> int:
    """Deliveries not finished: exact up to COUNT_EXACTLY_BELOW, PostgreSQL's estimate above."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, [COUNT_EXACTLY_BELOW])
        counted: int = cursor.fetchone()[0]
        if counted < COUNT_EXACTLY_BELOW:
            return counted
        cursor.execute(ESTIMATE)
        return max(counted, int(cursor.fetchone()[0]))


def count_resting() -> int:
    return Health.objects.filter(resting_until__gt=timezone.now()).count()


def last_pulse() -> datetime | None:
    return Pulse.objects.filter(name="sweep").values_list("at", flat=True).first()
