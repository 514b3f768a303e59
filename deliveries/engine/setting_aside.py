"""Setting aside of deliveries that cannot be sent or recorded, so that they harm no others."""

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime

from django.db import DatabaseError, InterfaceError, OperationalError, transaction

from core.jobs.failing_rows import note_failed_row
from core.mailing import outbox
from core.measures import catalogue, counting, sums
from deliveries import statements
from deliveries.engine import pausing, recording
from deliveries.engine.loans import Claimed
from deliveries.engine.recording import AttemptResult
from deliveries.http.answers import MAX_DETAIL
from deliveries.models import SET_ASIDE as FAILED_ROW
from deliveries.models import Delivery, State

logger = logging.getLogger(__name__)

# Give the delivery up, and log an attempt that shows the reason.
SET_ASIDE = f"""
WITH aside AS (
  UPDATE deliveries_delivery SET state = {State.GIVEN_UP}, attempts = least(attempts, 32766) + 1,
    last_status = NULL, last_error = 'internal',
    finished_at = statement_timestamp(), claimed_by = NULL, claimed_until = NULL,
    archived_on = (statement_timestamp() AT TIME ZONE 'UTC')::date
  WHERE id = %s AND archived_on = '9999-12-31' AND claimed_by = %s
  RETURNING id, webhook_id, attempts
), logged AS (
  INSERT INTO deliveries_attempt
    (delivery_id, number, started_at, duration_ms, url, status, error, detail, answer)
  SELECT id, attempts, coalesce(%s, statement_timestamp()), 0, '', NULL, 'internal', %s, ''
  FROM aside
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT webhook_id, statement_timestamp() FROM aside
)
SELECT count(*) FROM aside
"""  # noqa: S608 - our own text

# Let the webhook rest without counting a failure against its receiver.
HOLD_BACK = """
WITH held AS (
  INSERT INTO deliveries_health AS health (webhook_id, failures, rests, resting_until)
  SELECT id, 0, 0, statement_timestamp() + make_interval(secs => %s)
  FROM unnest(%s::bigint[]) AS webhook(id) ORDER BY id
  ON CONFLICT (webhook_id) DO UPDATE
    SET resting_until = greatest(health.resting_until, excluded.resting_until)
  RETURNING webhook_id, resting_until
)
INSERT INTO deliveries_wakeup (webhook_id, due_at) SELECT webhook_id, resting_until FROM held
"""
# Long enough: only an operator can restore a missing key or set a new secret.
HOLD_SECONDS = 30.0


# Deliveries of a webhook that are set aside within a day until it is paused: the next one might
# crash a loop as well.
MOST_SET_ASIDE = 2


def hold_back(troubles: Mapping[int, str]) -> None:
    """Postpone webhooks by HOLD_SECONDS for a fault of ours. `troubles`: reason by webhook."""
    logger.error(
        "the deliveries of %d webhooks wait, among them webhook %d: %s",
        len(troubles),
        *next(iter(troubles.items())),
    )
    counting.count(catalogue.WEBHOOKS_HELD_BACK, by=len(troubles))
    postpone(list(troubles))


def postpone(webhook_ids: list[int]) -> None:
    """Postpone webhooks by HOLD_SECONDS, without counting failures against their receivers."""
    with statements.cursor() as cursor:
        cursor.execute(HOLD_BACK, [HOLD_SECONDS, webhook_ids])


def record_all(results: Sequence[AttemptResult], failing: Collection[int] = ()) -> int:
    """Record attempts like record_attempts, but set aside a result that cannot be stored.

    Such a result is located by bisection, and its delivery is given up with the reason.
    """
    try:
        with transaction.atomic() if recording.changes_health(results, failing) else nullcontext():
            return recording.record_attempts(results, failing)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError as error:
        if len(results) > 1:
            half = len(results) // 2
            return record_all(results[:half], failing) + record_all(results[half:], failing)
        result, (reason, *_) = results[0], str(error).split("\n")
        detail = f"The result could not be recorded: {reason}"
        return set_aside(result.delivery_id, result.claim, result.started_at, detail)


def set_crashed_aside(delivery: Claimed) -> None:
    """Set aside a delivery that ended too many loops; pause its webhook if it is the second."""
    detail = f"The sending process ended {delivery.crashes} times while it had this delivery."
    with transaction.atomic():
        if not set_aside(delivery.id, delivery.claim, None, detail):
            return
        webhook_deliveries = Delivery.objects.set_aside().filter(webhook=delivery.webhook_id)
        if webhook_deliveries.count() >= MOST_SET_ASIDE:
            pausing.pause_and_notify(delivery.webhook_id, pausing.CRASHING)
    # Write and ring now: the next crash may be a second away.
    sums.write_sums()
    outbox.ring_mail_job()


def set_aside(delivery_id: str, claim: str, started_at: datetime | None, detail: str) -> int:
    text = "delivery %s is set aside: %s"
    logger.error(text, delivery_id, detail, extra={"delivery_id": delivery_id})
    with statements.cursor() as cursor:
        cursor.execute(SET_ASIDE, [delivery_id, claim, started_at, detail[:MAX_DETAIL]])
        (set_aside_count,) = cursor.fetchone() or (0,)
    if set_aside_count:
        note_failed_row(*FAILED_ROW, delivery_id, detail)
    counting.count(catalogue.DELIVERIES_FINISHED, "set_aside", by=set_aside_count)
    return int(set_aside_count)
