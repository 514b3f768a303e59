"""What keeps the delivery tables small and ready."""

from django.db import connection
from django.utils import timezone

WEEKS_AHEAD = 8
BATCH = 5_000

CANCEL = """
UPDATE deliveries_delivery SET state = 3, finished_at = statement_timestamp(),
  archived_on = (statement_timestamp() AT TIME ZONE 'UTC')::date,
  claimed_by = NULL, claimed_until = NULL
WHERE archived_on = '9999-12-31' AND id IN (
  SELECT id FROM deliveries_delivery_open WHERE webhook_id = %s
  LIMIT %s FOR UPDATE SKIP LOCKED)
"""

DELETED = """
SELECT id FROM webhooks_webhook WHERE deleted_at IS NOT NULL AND EXISTS (
  SELECT FROM deliveries_delivery_open WHERE webhook_id = webhooks_webhook.id)
"""


def cancel_deliveries_of_deleted_webhooks() -> int:
    """Cancel what still waits for them, a bounded number at a time (decision W7)."""
    with connection.cursor() as cursor:
        cursor.execute(DELETED)
        deleted = [row[0] for row in cursor.fetchall()]
        cancelled = 0
        for webhook_id in deleted:
            cursor.execute(CANCEL, [webhook_id, BATCH])
            cancelled += cursor.rowcount
        return cancelled


def make_partitions() -> int:
    """Make the partitions of this week and WEEKS_AHEAD more; returns how many were missing."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT deliveries_make_partitions(%s, %s)", [timezone.now().date(), WEEKS_AHEAD + 1]
        )
        return int(cursor.fetchone()[0])
