"""Sends deliveries again: makes their rows due, so that the engine sends them."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import OperationalError, connection, transaction

from deliveries import doorbell
from deliveries.models import Delivery, State

BATCH = 1_000

WAKE = "INSERT INTO deliveries_wakeup (webhook_id, due_at) VALUES (%s, statement_timestamp())"

# Moves a delivery to the open partition, at the start of the retry schedule. A delivery in flight
# is left alone: it is being sent anyway.
AGAIN = """
WITH again AS (
  UPDATE deliveries_delivery SET state = 0, step = 0, first_attempt_at = NULL,
    due_at = statement_timestamp(), finished_at = NULL, archived_on = '9999-12-31',
    claimed_by = NULL, claimed_until = NULL
  WHERE id = ANY(%s) AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())
  RETURNING webhook_id
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT DISTINCT webhook_id, statement_timestamp() FROM again
)
SELECT count(*) FROM again
"""


def catch_up(webhook_id: int) -> None:
    """Have the engine look at a webhook that is resumed; `settings.WEBHOOK_RESUMED` names this."""
    with connection.cursor() as cursor:
        cursor.execute(WAKE, [webhook_id])
    transaction.on_commit(doorbell.ring_engine, robust=True)


def redeliver(delivery_ids: Iterable[UUID]) -> int:
    """Send deliveries again now, with the same X-Webhook-Id; returns how many.

    A delivery that waits for a retry is sent now instead.
    """
    again = 0
    ids = list(delivery_ids)
    for start in range(0, len(ids), BATCH):
        again += reopen(ids[start : start + BATCH])
        transaction.on_commit(doorbell.ring_engine, robust=True)
    return again


def reopen(ids: list[UUID]) -> int:
    for last in (False, False, True):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(AGAIN, [ids])
                return int(cursor.fetchone()[0])
        except OperationalError:
            # A row was finished, and so moved to another partition, while we waited for its lock.
            if last:
                raise
    return 0


def find_deliveries(
    *,
    webhook_id: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    state: State | None = None,
) -> list[UUID]:
    """The ids of deliveries of a webhook, created in a window, in a state; oldest first."""
    deliveries = Delivery.objects.created_between(since, until).order_by("event_id")
    if webhook_id is not None:
        deliveries = deliveries.filter(webhook_id=webhook_id)
    if state is not None:
        deliveries = deliveries.filter(state=state)
    return list(deliveries.values_list("pk", flat=True))
