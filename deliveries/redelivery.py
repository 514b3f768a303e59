"""Sends deliveries again: makes their rows due, so that the engine sends them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from companies.api_acts import record_api_act
from companies.failing_rows import forget_failed_rows
from deliveries import catching_up
from deliveries.catching_up import Place
from deliveries.models import SET_ASIDE, Delivery

BATCH = 1_000
MOST_A_DAY = catching_up.MOST_A_DAY


class AskedTooOften(Exception):
    """The company has asked for this MOST_A_DAY times today (decision N26)."""

    def __init__(self) -> None:
        super().__init__(
            f"A delivery can be asked for again {MOST_A_DAY} times a day; the day ends at"
            " midnight UTC."
        )

    @property
    def wait(self) -> int:
        """Seconds until the next day begins."""
        now = timezone.now().astimezone(UTC)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return int((midnight - now).total_seconds()) + 1


class Undelivered(NamedTuple):
    """A delivery that waits or was given up. `spent`: it may not be asked for again today."""

    id: UUID
    created_at: datetime
    event_id: int
    given_up: bool
    spent: bool


# Counts that a company asks for deliveries; leaves out those that it may not ask for again today.
# Also of one in flight, whose claim stays as it is.
ASK = """
UPDATE deliveries_delivery SET asked_on = %(today)s,
  asked_times = CASE WHEN asked_on = %(today)s THEN asked_times + 1 ELSE 1 END
WHERE id = ANY(%(ids)s) AND coalesce(asked_on <> %(today)s OR asked_times < %(most_a_day)s, true)
RETURNING id
"""

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
(SELECT id, created_at, event_id, false AS given_up,
   coalesce(asked_on = %(today)s AND asked_times >= %(most_a_day)s, false) AS spent
 FROM deliveries_delivery_open
 WHERE webhook_id = %(webhook)s AND created_at < %(until)s
   AND (created_at, event_id) > (%(time)s, %(event)s)
 ORDER BY created_at, event_id LIMIT %(most)s)
UNION ALL
(SELECT id, created_at, event_id, true,
   coalesce(asked_on = %(today)s AND asked_times >= %(most_a_day)s, false)
 FROM deliveries_delivery
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
    of its subject, goes when its turn comes.

    What has been asked for too often today keeps its own time and is not counted. Raises
    AskedTooOften where that is all there is.
    """
    bounds = {"since": since.isoformat()} | ({"until": until.isoformat()} if until else {})
    record_api_act("recover", f"webhook {webhook_id}", **bounds)
    catching_up.note_mended(webhook_id, everything=False)
    count, spent, place = 0, False, Place(since)
    while part := find_undelivered(webhook_id, until or END_OF_TIME, place):
        wanted = [each for each in part if not each.spent]
        send_now(wanted)
        count += len(wanted)
        spent |= len(wanted) < len(part)
        place = Place(part[-1].created_at, part[-1].event_id)
    if spent and not count:
        raise AskedTooOften
    catching_up.ring_on_commit()
    return count


def find_undelivered(webhook_id: int, until: datetime, place: Place) -> list[Undelivered]:
    values = {
        "webhook": webhook_id,
        "until": until,
        "most": BATCH,
        **catching_up.bound(),
        **place._asdict(),
    }
    with connection.cursor() as cursor:
        cursor.execute(UNDELIVERED, values)
        return [Undelivered(*row) for row in cursor.fetchall()]


@transaction.atomic
def send_now(part: list[Undelivered]) -> None:
    """All of a part at once: the engine must not see the newer of two events without the older."""
    catching_up.pull([each.id for each in part if not each.given_up], again=True)
    if given_up := [each.id for each in part if each.given_up]:
        reopen(given_up, counted=True)


def ask_again(delivery_id: UUID) -> None:
    """Send a delivery again now because its company asks for it, which counts (decision N26).

    Raises AskedTooOften.
    """
    with transaction.atomic():
        reopen([delivery_id], counted=True)
        record_api_act("redeliver", f"delivery {delivery_id}")
    catching_up.ring_on_commit()


def redeliver(delivery_ids: Iterable[UUID]) -> int:
    """Send deliveries again now, with the same X-Webhook-Id; returns how many.

    A delivery that waits for a retry is sent now instead. For the desk and for operators: it is not
    counted as asked for.
    """
    again = 0
    ids = list(delivery_ids)
    for start in range(0, len(ids), BATCH):
        again += reopen(ids[start : start + BATCH])
        catching_up.ring_on_commit()
    return again


def reopen(ids: list[UUID], *, counted: bool = False) -> int:
    """Make deliveries due; returns how many.

    `counted`: because their company asks for them. Raises AskedTooOften where it may ask for none.
    """
    for last in (False, False, True):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                again = count_asked(cursor, ids) if counted else ids
                cursor.execute(AGAIN, [again])
                forget_failed_rows(*SET_ASIDE, again)
                return int(cursor.fetchone()[0])
        except OperationalError:
            # A row was finished, and so moved to another partition, while we waited for its lock.
            if last:
                raise
    return 0


def count_asked(cursor: CursorWrapper, ids: list[UUID]) -> list[UUID]:
    cursor.execute(ASK, {"ids": ids, **catching_up.bound()})
    asked = [id for (id,) in cursor.fetchall()]
    if not asked:
        raise AskedTooOften
    return asked


def has_delivery(delivery_id: UUID) -> bool:
    return Delivery.objects.filter(pk=delivery_id).exists()
