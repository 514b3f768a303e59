"""Retries of a receiver that has been mended are pulled forward (decision N1).

A delivery that is pulled forward is due now and keeps its own next try. Should it fail, it waits
for that one, at the same place on the ladder. Nothing is pulled ahead of a Retry-After.

Rows are walked in the order of their events, a part at a time, so that the older of two events of
a shipment or ticket is never pulled after the newer one.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from deliveries import doorbell, statements

PART = 500
# How often its company may have a delivery sent again in a day of UTC (decision N26).
MOST_A_DAY = 100

# A rest of our own ends; what the receiver asked for is kept. One probe goes ahead, as after any
# rest. A webhook without a row has never failed alone, but some of its deliveries may have.
MENDED = """
WITH mended AS (
  INSERT INTO deliveries_health AS health (webhook_id, failures, rests, catch_up_before)
  VALUES (%(webhook)s, 0, 0, CASE WHEN %(all)s THEN statement_timestamp() END)
  ON CONFLICT (webhook_id) DO UPDATE SET
    catch_up_before = coalesce(excluded.catch_up_before, health.catch_up_before),
    resting_until = CASE WHEN health.asked_until > statement_timestamp()
      THEN least(health.resting_until, health.asked_until) END
  RETURNING webhook_id, resting_until
)
INSERT INTO deliveries_wakeup (webhook_id, due_at)
SELECT webhook_id, coalesce(resting_until, statement_timestamp()) FROM mended
"""

PULL = """
WITH pulled AS (
  UPDATE deliveries_delivery_open
  SET own_due_at = greatest(own_due_at, due_at), due_at = statement_timestamp(),
    asked_on = CASE WHEN %(again)s THEN %(today)s ELSE asked_on END,
    asked_times = CASE WHEN NOT %(again)s THEN asked_times
      WHEN asked_on = %(today)s THEN asked_times + 1 ELSE 1 END
  WHERE id = ANY(%(ids)s::uuid[]) AND step > 0 AND due_at > statement_timestamp()
    AND coalesce(asked_until <= statement_timestamp(), true)
    AND CASE WHEN %(again)s
      THEN coalesce(asked_on <> %(today)s OR asked_times < %(most_a_day)s, true)
      ELSE coalesce(own_due_at <= statement_timestamp(), true) END
  RETURNING webhook_id
)
INSERT INTO deliveries_wakeup (webhook_id, due_at)
SELECT DISTINCT webhook_id, statement_timestamp() FROM pulled
"""

WAITING = """
SELECT id, created_at, event_id FROM deliveries_delivery_open
WHERE webhook_id = %(webhook)s AND created_at < %(before)s
  AND (created_at, event_id) > (%(time)s, %(event)s)
ORDER BY webhook_id, created_at, event_id LIMIT %(most)s
"""

CAUGHT_UP = """
UPDATE deliveries_health SET catch_up_before = NULL
WHERE webhook_id = %s AND catch_up_before = %s
"""


class Place(NamedTuple):
    """How far a walk over the deliveries of a webhook has come."""

    time: datetime
    event: int = 0


BEGINNING = Place(datetime(1970, 1, 1, tzinfo=UTC))


def begin(webhook_id: int) -> None:
    """Have the engine pull forward all retries of a webhook that works again."""
    note_mended(webhook_id, everything=True)


def note_mended(webhook_id: int, *, everything: bool) -> None:
    """End its rest; with `everything` have the engine pull its retries forward."""
    with statements.cursor() as cursor:
        cursor.execute(MENDED, {"webhook": webhook_id, "all": everything})
    ring_on_commit()


def ring_on_commit() -> None:
    """Have the engine look for what is due once this transaction is committed."""
    transaction.on_commit(doorbell.ring_engine, robust=True)


def bound() -> dict[str, date | int]:
    """What statements that count what is asked for want to know."""
    return {"today": timezone.now().astimezone(UTC).date(), "most_a_day": MOST_A_DAY}


def pull(delivery_ids: Sequence[UUID], *, again: bool) -> None:
    """Make retries due now. `again`: because their company asks for them, which counts; then also
    those that were pulled forward and failed, and none that was asked for too often today.
    """
    with statements.cursor() as cursor:
        cursor.execute(PULL, {"ids": list(delivery_ids), "again": again, **bound()})


def go_on(webhook_id: int, before: datetime, place: Place) -> Place | None:
    """Pull a part of a webhook's retries forward; returns where to go on, None at the end."""
    values = {"webhook": webhook_id, "before": before, "most": PART, **place._asdict()}
    with statements.cursor() as cursor:
        cursor.execute(WAITING, values)
        rows = cursor.fetchall()
        pull([id for id, _, _ in rows], again=False)
        if len(rows) == PART:
            _, *last = rows[-1]
            return Place(*last)
        cursor.execute(CAUGHT_UP, [webhook_id, before])
    return None


class Walks:
    """The walks of one engine loop: one that is interrupted starts over, and finds little to do."""

    # A turn of a loop does no more than this: its lease is renewed between turns.
    AT_ONCE = 4

    def __init__(self) -> None:
        self._places: dict[int, tuple[datetime, Place]] = {}

    def go_on(self, wanted: dict[int, datetime]) -> set[int]:
        """Go on with some webhooks, given until when each; returns those that have more to do."""
        more = set(wanted)
        for webhook_id in list(wanted)[: self.AT_ONCE]:
            until, place = self._places.get(webhook_id, (None, BEGINNING))
            if until != wanted[webhook_id]:
                place = BEGINNING
            next_place = go_on(webhook_id, wanted[webhook_id], place)
            if next_place:
                self._places[webhook_id] = (wanted[webhook_id], next_place)
            else:
                self._places.pop(webhook_id, None)
                more.discard(webhook_id)
        return more
