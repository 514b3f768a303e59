"""Cancellation of deliveries that wait for webhooks that are deleted or have lost their URL."""

from collections.abc import Sequence

from django.db import connection

from core.jobs.failing_rows import FailingRows
from core.measures import catalogue, counting
from deliveries.models import State

BATCH = 5_000

CANCEL = f"""
UPDATE deliveries_delivery SET state = {State.CANCELLED}, finished_at = statement_timestamp(),
  archived_on = (statement_timestamp() AT TIME ZONE 'UTC')::date,
  claimed_by = NULL, claimed_until = NULL
WHERE archived_on = '9999-12-31' AND id IN (
  SELECT id FROM deliveries_delivery_open WHERE webhook_id = %s
  LIMIT %s FOR UPDATE SKIP LOCKED)
"""  # noqa: S608 - our own text

# The order makes PostgreSQL look each webhook up in the index. Otherwise it may read the whole
# queue, which is long beside a transaction that stays open, however little waits in it.
DELETED = """
SELECT own.id FROM webhooks_webhook AS own CROSS JOIN LATERAL (
  SELECT 1 FROM deliveries_delivery_open WHERE webhook_id = own.id
  ORDER BY least(step, 1), due_at LIMIT 1) AS waiting
WHERE own.deleted_at IS NOT NULL OR own.url = ''
ORDER BY own.id = ANY(%s::bigint[]) LIMIT %s
"""
WEBHOOKS_AT_ONCE = 20


def cancel_deliveries() -> int:
    """Cancel waiting deliveries of such webhooks, a bounded number at a time (decision W7)."""
    rows = FailingRows("sweep")
    cancelled = 0

    def cancel(webhook_ids: Sequence[int]) -> None:
        nonlocal cancelled
        with connection.cursor() as cursor:
            for webhook_id in webhook_ids:
                cursor.execute(CANCEL, [webhook_id, BATCH])
                cancelled += cursor.rowcount

    with connection.cursor() as cursor:
        cursor.execute(DELETED, [[int(key) for _, key in rows.earlier_failures], WEBHOOKS_AT_ONCE])
        deleted = [row[0] for row in cursor.fetchall()]
    for webhook_id in deleted:
        rows.do("webhook", [webhook_id], cancel)
    counting.count(catalogue.DELIVERIES_FINISHED, "cancelled", by=cancelled)
    return cancelled
