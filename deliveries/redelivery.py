"""Redelivery: makes rows of deliveries due, so that the engine sends them again.

A delivery that has ended, or is to be sent whatever it waits for, is reopened: it begins anew. A
retry is pulled forward (decision N1): it is due now and keeps the time of its regular retry. If it
fails, it waits for that, at the same place on the ladder. Nothing is pulled ahead of a Retry-After.

Rows are walked in the order of their events, a part at a time, so that the older of two events of
a shipment or ticket is never sent after the newer one.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from companies.api_acts import record_api_act
from core.jobs.failing_rows import forget_failed_rows
from deliveries import doorbell, statements
from deliveries.models import SET_ASIDE, Delivery, State
from deliveries.models.outgoing import BEFORE_ALL

# Deliveries at a time, of a request and of a turn of an engine loop.
BATCH = 1_000
PART = 500
# Times that a company may ask for a delivery again in a day of UTC (decision N26).
MOST_A_DAY = 100


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


class Place(NamedTuple):
    """A place in a walk over the deliveries of a webhook."""

    time: datetime = BEFORE_ALL
    event: int = 0


class Passed(NamedTuple):
    """A delivery of a walk. `spent`: its company may not ask for it again today."""

    id: UUID
    created_at: datetime
    event_id: int
    state: int
    spent: bool


BEGINNING = Place()
END_OF_TIME = datetime.max.replace(tzinfo=UTC)

# Reads one webhook and one state. Waiting deliveries have a partition of their own; of the others,
# those that failed have an index.
WALK = """
(SELECT id, created_at, event_id, state,
   coalesce(asked_on = %(today)s AND asked_times >= %(most_a_day)s, false) AS spent
 FROM deliveries_delivery
 WHERE webhook_id = %(webhook)s AND created_at < %(until)s
   AND (created_at, event_id) > (%(time)s, %(event)s)
   AND state = {state} AND archived_on {which} '9999-12-31'
 ORDER BY created_at, event_id LIMIT %(most)s)
"""

# Counts that a company asks for deliveries; leaves out those that it may not ask for again today.
# A delivery in flight is counted too; its claim stays as it is.
ASK = """
UPDATE deliveries_delivery SET asked_on = %(today)s,
  asked_times = CASE WHEN asked_on = %(today)s THEN asked_times + 1 ELSE 1 END
WHERE id = ANY(%(ids)s) AND coalesce(asked_on <> %(today)s OR asked_times < %(most_a_day)s, true)
RETURNING id
"""

# Moves a delivery to the open partition, at the start of the retry schedule. A delivery in flight
# is left alone: it is being sent anyway. The attempt stored with it moves to the others.
AGAIN = f"""
WITH again AS MATERIALIZED (
  SELECT id, archived_on, webhook_id, attempts, first_attempt_at, attempt_duration_ms, attempt_url,
    last_status, attempt_answer
  FROM deliveries_delivery
  WHERE id = ANY(%s) AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())
  FOR NO KEY UPDATE
), moved AS (
  UPDATE deliveries_delivery AS delivery SET state = {State.WAITING}, step = 0,
    first_attempt_at = NULL, due_at = statement_timestamp(), own_due_at = NULL, asked_until = NULL,
    finished_at = NULL, archived_on = '9999-12-31', claimed_by = NULL, claimed_until = NULL,
    crashes = 0, attempt_duration_ms = NULL, attempt_url = NULL, attempt_answer = NULL
  FROM again WHERE delivery.id = again.id AND delivery.archived_on = again.archived_on
), logged AS (
  INSERT INTO deliveries_attempt
    (delivery_id, number, started_at, duration_ms, url, status, error, detail, answer)
  SELECT id, attempts, first_attempt_at, attempt_duration_ms, attempt_url, last_status, '', '',
    coalesce(attempt_answer, '')
  FROM again WHERE attempt_url IS NOT NULL
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT DISTINCT webhook_id, statement_timestamp() FROM again
)
SELECT count(*) FROM again
"""  # noqa: S608 - our own text

# Ends a rest of our own; one that the receiver asked for stays. One probe goes first, as after any
# rest. A webhook without a row has never failed as such, but some of its deliveries may have.
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
  SET own_due_at = coalesce(own_due_at, due_at), due_at = statement_timestamp(),
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

CAUGHT_UP = """
UPDATE deliveries_health SET catch_up_before = NULL
WHERE webhook_id = %s AND catch_up_before = %s
"""


def walk(
    webhook_id: int, states: Iterable[State], place: Place, until: datetime, most: int
) -> list[Passed]:
    """Return deliveries of a webhook after a place, in the order of their events."""
    parts = [
        WALK.format(state=state.value, which="=" if state == State.WAITING else "<")
        for state in states
    ]
    statement = "UNION ALL".join(parts)
    if len(parts) > 1:
        statement += "ORDER BY created_at, event_id LIMIT %(most)s"
    values = {"webhook": webhook_id, "until": until, "most": most, **limits(), **place._asdict()}
    with statements.cursor() as cursor:
        cursor.execute(statement, values)
        return [Passed(*row) for row in cursor.fetchall()]


def catch_up(webhook_id: int) -> None:
    """Have the engine pull forward all retries of a webhook that works again, or is resumed.

    `settings.WEBHOOK_RESUMED` names this.
    """
    end_rest(webhook_id, everything=True)


def end_rest(webhook_id: int, *, everything: bool) -> None:
    """End a webhook's rest; with `everything`, have the engine pull its retries forward."""
    with statements.cursor() as cursor:
        cursor.execute(MENDED, {"webhook": webhook_id, "all": everything})
    ring_on_commit()


def ring_on_commit() -> None:
    """Have the engine look for what is due once this transaction is committed."""
    transaction.on_commit(doorbell.ring_engine, robust=True)


def limits() -> dict[str, date | int]:
    """Return the day and the limit, for statements that count a company's requests."""
    return {"today": timezone.now().astimezone(UTC).date(), "most_a_day": MOST_A_DAY}


def pull(delivery_ids: Sequence[UUID], *, again: bool) -> None:
    """Make retries due now.

    `again`: their company asks for them, which counts. This includes retries that were pulled
    forward and failed, but none that was asked for too often today.
    """
    with statements.cursor() as cursor:
        cursor.execute(PULL, {"ids": list(delivery_ids), "again": again, **limits()})


def recover(webhook_id: int, *, since: datetime, until: datetime | None = None) -> int:
    """Send a window's undelivered deliveries now, in order; return their number.

    Given-up ones begin anew. Those that wait for a retry keep their place on the ladder, and are
    not sent before the time that a Retry-After asked for. Those that are due, or wait for an older
    event of their subject, go when their turn comes.

    Those that were asked for too often today keep their own time and are not counted. Raises
    AskedTooOften if there are no others.
    """
    bounds = {"since": since.isoformat()} | ({"until": until.isoformat()} if until else {})
    record_api_act("recover", f"webhook {webhook_id}", **bounds)
    end_rest(webhook_id, everything=False)
    count = 0
    spent = False
    place = Place(since)
    undelivered = (State.WAITING, State.GIVEN_UP)
    while part := walk(webhook_id, undelivered, place, until or END_OF_TIME, BATCH):
        wanted = [each for each in part if not each.spent]
        send_now(wanted)
        count += len(wanted)
        spent |= len(wanted) < len(part)
        place = Place(part[-1].created_at, part[-1].event_id)
    if spent and not count:
        raise AskedTooOften
    ring_on_commit()
    return count


@transaction.atomic
def send_now(part: list[Passed]) -> None:
    """Send a part at once: the engine must not see the newer of two events without the older."""
    pull([each.id for each in part if each.state == State.WAITING], again=True)
    if given_up := [each.id for each in part if each.state == State.GIVEN_UP]:
        reopen(given_up, by_company=True)


def ask_again(delivery_id: UUID) -> None:
    """Send a delivery again now at its company's request, which counts (decision N26).

    Raises AskedTooOften.
    """
    with transaction.atomic():
        reopen([delivery_id], by_company=True)
        record_api_act("redeliver", f"delivery {delivery_id}")
    ring_on_commit()


def redeliver(delivery_ids: Iterable[UUID]) -> int:
    """Send deliveries again now, with the same X-Webhook-Id; return how many.

    A delivery that waits for a retry is sent now instead. For the desk and for operators: it does
    not count as a company's request.
    """
    again = 0
    ids = list(delivery_ids)
    for start in range(0, len(ids), BATCH):
        again += reopen(ids[start : start + BATCH])
        ring_on_commit()
    return again


def reopen(ids: list[UUID], *, by_company: bool = False) -> int:
    """Make deliveries due; return how many.

    `by_company`: at their company's request. Raises AskedTooOften if it may ask for none of them.
    """
    for last in (False, False, True):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                again = count_requests(cursor, ids) if by_company else ids
                cursor.execute(AGAIN, [again])
                forget_failed_rows(*SET_ASIDE, again)
                return int(cursor.fetchone()[0])
        except OperationalError:
            # A row was finished, and so moved to another partition, while we waited for its lock.
            if last:
                raise
    return 0


def count_requests(cursor: CursorWrapper, ids: list[UUID]) -> list[UUID]:
    cursor.execute(ASK, {"ids": ids, **limits()})
    allowed_ids = [id for (id,) in cursor.fetchall()]
    if not allowed_ids:
        raise AskedTooOften
    return allowed_ids


def has_delivery(delivery_id: UUID) -> bool:
    return Delivery.objects.filter(pk=delivery_id).exists()


def go_on(webhook_id: int, before: datetime, place: Place) -> Place | None:
    """Pull a part of a webhook's retries forward; return where to go on, None at the end."""
    part = walk(webhook_id, [State.WAITING], place, before, PART)
    pull([each.id for each in part], again=False)
    if len(part) == PART:
        return Place(part[-1].created_at, part[-1].event_id)
    with statements.cursor() as cursor:
        cursor.execute(CAUGHT_UP, [webhook_id, before])
    return None


class Walks:
    """Walks of one engine loop; one that is interrupted starts over and finds little to do."""

    # Most walks in a turn of a loop, as its lease is renewed between turns.
    AT_ONCE = 4

    def __init__(self) -> None:
        self._places: dict[int, tuple[datetime, Place]] = {}

    def go_on(self, wanted: dict[int, datetime]) -> set[int]:
        """Go on with webhooks, each up to its given time; return those that have more to do."""
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
