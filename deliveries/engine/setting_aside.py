"""What cannot be written down is set aside, so that it is not sent for ever and harms no other."""

import logging
from collections.abc import Collection, Sequence

from django.db import DatabaseError, InterfaceError, OperationalError, transaction

from deliveries import statements
from deliveries.engine import recording
from deliveries.engine.recording import AttemptResult
from deliveries.http.answers import MAX_DETAIL

logger = logging.getLogger(__name__)

# As given up, with the reason where its attempts are shown.
SET_ASIDE = """
WITH aside AS (
  UPDATE deliveries_delivery SET state = 2, last_status = NULL, last_error = 'internal',
    finished_at = statement_timestamp(), claimed_by = NULL, claimed_until = NULL,
    archived_on = (statement_timestamp() AT TIME ZONE 'UTC')::date
  WHERE id = %s AND archived_on = '9999-12-31' AND claimed_by = %s
  RETURNING id, webhook_id, attempts
), logged AS (
  INSERT INTO deliveries_attempt
    (delivery_id, number, started_at, duration_ms, url, status, error, detail, answer)
  SELECT id, attempts, %s, 0, '', NULL, 'internal', %s, '' FROM aside
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT webhook_id, statement_timestamp() FROM aside
)
SELECT count(*) FROM aside
"""


def record_all(results: Sequence[AttemptResult], failing: Collection[int] = ()) -> int:
    """As record_attempts, and one that cannot be written down harms no other.

    It is found by halving, and set aside as given up with the reason.
    """
    try:
        with transaction.atomic():
            return recording.record_attempts(results, failing)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError as error:
        if len(results) > 1:
            half = len(results) // 2
            return record_all(results[:half], failing) + record_all(results[half:], failing)
        return set_aside(results[0], str(error))


def set_aside(result: AttemptResult, reason: str) -> int:
    logger.error("delivery %s is set aside: %s", result.delivery_id, reason)
    detail = f"The result could not be recorded: {reason.partition(chr(10))[0]}"[:MAX_DETAIL]
    with statements.cursor() as cursor:
        cursor.execute(SET_ASIDE, [result.delivery_id, result.claim, result.started_at, detail])
        (kept,) = cursor.fetchone() or (0,)
        return int(kept)
