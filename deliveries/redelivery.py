"""Sends deliveries again: makes their rows due, so that the engine sends them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from django.db import OperationalError, connection, transaction

from deliveries import catching_up, doorbell
from deliveries.catching_up import Place
from deliveries.models import Delivery, State

BATCH = 1_000


class Undelivered(NamedTuple):
    """A delivery that waits or was given up."""

    id: UUID
    created_at: datetime
    event_id: int
    given_up: bool


# Moves a delivery to the open partition, at the start of the retry schedule. A delivery in flight
# is left alone: it is being sent anyway.
AGAIN = """
WITH again AS (
  UPDATE deliveries_delivery SET state = 0, step = 0, first_attempt_at = NULL,
    due_at = statement_timestamp(), own_due_at = NULL, asked_until = NULL,
    finished_at = NULL, archived_on = '9999-12-31', claimed_by = NULL, claimed_until = NULL,
    crashes = 0
  WHERE id = ANY(%s) AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())
  RETURNING webhook_id
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT DISTINCT webhook_id, statement_timestamp() FROM again
)
SELECT count(*) FROM again
"""


# What is not delivered of a webhook, in the order of its events: what waits, from the partition
# that holds it, and what was given up, from the index of what ended badly.
UNDELIVERED = """
(SELECT id, created_at, event_id, false AS given_up FROM deliveries_delivery_open
 WHERE webhook_id = %(webhook)s AND created_at < %(until)s
   AND (created_at, event_id) > (%(time)s, %(event)s)
 ORDER BY created_at, event_id LIMIT %(most)s)
UNION ALL
(SELECT id, created_at, event_id, true FROM deliveries_delivery
 WHERE webhook_id = %(webhook)s AND created_at < %(until)s AND state = 2
   AND (created_at, event_id) > (%(time)s, %(event)s)
 ORDER BY created_at, event_id LIMIT %(most)s)
ORDER BY created_at, event_id LIMIT %(most)s
"""
END_OF_TIME = datetime.max.replace(tzinfo=UTC)


def catch_up(webhook_id: int) -> None:
    """Send now what waits for a webhook that is resumed; `settings.WEBHOOK_RESUMED` names this."""
    catching_up.begin(webhook_id)


def recover(webhook_id: int, *, since: datetime, until: datetime | None = None) -> int:
    """Send now, in order, what is not delivered of a window; returns how many deliveries that are.

    What was given up begins anew. What waits for a retry keeps its place on the ladder, and is not
    sent before the time that a Retry-After asked for. What is due, or waits behind an older event
    of its shipment, goes when its turn comes.
    """
    catching_up.note_mended(webhook_id, everything=False)
    count, place = 0, Place(since)
    while part := find_undelivered(webhook_id, until or END_OF_TIME, place):
        send_now(part)
        count += len(part)
        place = Place(part[-1].created_at, part[-1].event_id)
    transaction.on_commit(doorbell.ring_engine, robust=True)
    return count


def find_undelivered(webhook_id: int, until: datetime, place: Place) -> list[Undelivered]:
    values = {"webhook": webhook_id, "until": until, "most": BATCH, **place._asdict()}
    with connection.cursor() as cursor:
        cursor.execute(UNDELIVERED, values)
        return [Undelivered(*row) for row in cursor.fetchall()]


@transaction.atomic
def send_now(part: list[Undelivered]) -> None:
    """All of a part at once: the engine must not see the newer of two events without the older."""
    catching_up.pull([each.id for each in part if not each.given_up], again=True)
    reopen([each.id for each in part if each.given_up])


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
