"""Recording of attempts in bulk: one statement for a few hundred of them."""

import json
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.watch.log_bound import ATTEMPTS
from deliveries import statements
from deliveries.models import State

# A webhook rests after this many failures in a row to connect or to answer in time: for one second,
# doubling to five minutes, with one probe after each rest.
FAILURES_BEFORE_REST = 3
LONGEST_REST_SECONDS = 300
# A success after this many failures in a row, or after a rest, means that the receiver has
# recovered: the deliveries that wait for it are pulled forward (decision N1).
FAILURES_BEFORE_CATCHING_UP = 5
# Looked up once: access to a member of an enum takes longer than the comparison.
WAITING, DELIVERED = State.WAITING, State.DELIVERED


@dataclass(slots=True)
class AttemptResult:
    """Outcome of an attempt. `wait`: seconds until its delivery is due again.

    `rest`: seconds for which the receiver asked for no requests at all. `retry_after`: seconds for
    which it asked to wait with this delivery. `keeps_place`: a failure moves the delivery neither
    on in the retry schedule nor ahead of its own next try. `blameless`: no failure of the receiver.
    `number`, 1 for the first attempt, and all fields after it are for logs and traces only.
    """

    delivery_id: str
    claim: str
    webhook_id: int
    state: State
    url: str
    started_at: datetime
    duration_ms: int
    status: int | None
    answer: bytes = b""
    wait: float = 0.0
    error: str = ""
    detail: str = ""
    unreachable: bool = False
    rest: float = 0.0
    retry_after: float = 0.0
    keeps_place: bool = False
    blameless: bool = False
    number: int = 0
    company_id: int = 0
    event_id: int | None = None
    request_id: str | None = None
    traceparent: str | None = None


# A row changes only while this claim holds it, so a worker that comes back late changes nothing. A
# finished delivery moves to the partition of its week, and the next of its subject, parked behind
# it, becomes due: what is parked has a time of its own. Whatever becomes due, now or later, gets
# its wake-up; retries get one per webhook and second. Rows are selected with ANY, so that they are
# looked up by index whatever size of the table the planner assumes; and the sum `due_at + interval
# '0'` has no index, so that the planner does not search all later deliveries for the next one.
#
# A first attempt that succeeds is stored in its delivery, which is written anyway: a row and an
# index entry of its own would be a third of all writes here. It takes up an id all the same.
FIRST_SUCCESS = f"delivery.attempts = 0 AND result.state = {DELIVERED}"
RECORD = f"""
WITH result AS (
  SELECT id, claim, state, coalesce(wait, 0) AS wait, url, to_timestamp(started) AS started_at,
    duration_ms, status, coalesce(error, '') AS error, coalesce(detail, '') AS detail,
    decode(coalesce(answer, ''), 'hex') AS answer, make_interval(secs => asked) AS asked,
    coalesce(keeps_place, false) AS keeps_place
  FROM json_to_recordset(%s) AS r(id uuid, claim uuid, state smallint, wait float8, url text,
    started float8, duration_ms integer, status smallint, error text, detail text, answer text,
    asked float8, keeps_place boolean)
), done AS (
  UPDATE deliveries_delivery AS delivery SET
    state = result.state,
    attempts = least(delivery.attempts, 32766) + 1,
    step = delivery.step
      + CASE WHEN result.state = {DELIVERED} OR result.keeps_place THEN 0 ELSE 1 END,
    due_at = CASE WHEN result.state = {WAITING}
      THEN greatest(statement_timestamp() + make_interval(secs => result.wait),
        CASE WHEN result.keeps_place THEN delivery.own_due_at END) ELSE delivery.due_at END,
    own_due_at = CASE WHEN result.state = {WAITING} AND result.keeps_place
        AND delivery.own_due_at > statement_timestamp()
      THEN greatest(statement_timestamp() + make_interval(secs => result.wait),
        delivery.own_due_at) END,
    asked_until = CASE WHEN result.state = {WAITING} THEN statement_timestamp() + result.asked END,
    first_attempt_at = coalesce(delivery.first_attempt_at, result.started_at),
    claimed_by = NULL, claimed_until = NULL, crashes = 0,
    last_status = result.status, last_error = result.error,
    attempt_url = CASE WHEN {FIRST_SUCCESS} THEN result.url END,
    attempt_duration_ms = CASE WHEN {FIRST_SUCCESS} THEN result.duration_ms END,
    attempt_answer = CASE WHEN {FIRST_SUCCESS} THEN nullif(result.answer, '') END,
    finished_at = CASE WHEN result.state <> {WAITING} THEN statement_timestamp() END,
    archived_on = CASE WHEN result.state = {WAITING} THEN '9999-12-31'
      ELSE (statement_timestamp() AT TIME ZONE 'UTC')::date END
  FROM result
  WHERE delivery.id = ANY(ARRAY(SELECT id FROM result)) AND delivery.id = result.id
    AND delivery.archived_on = '9999-12-31' AND delivery.claimed_by = result.claim
  RETURNING delivery.id, delivery.webhook_id, delivery.subject_id, delivery.subject_kind,
    delivery.event_id, delivery.state, delivery.attempts, delivery.due_at,
    delivery.attempt_url IS NULL AS apart
), logged AS (
  INSERT INTO deliveries_attempt
    (delivery_id, number, started_at, duration_ms, url, status, error, detail, answer)
  SELECT done.id, done.attempts, started_at, duration_ms, url, status, error, detail, answer
  FROM done JOIN result USING (id) WHERE apart
), woken AS (
  UPDATE deliveries_delivery_open SET due_at = statement_timestamp()
  WHERE due_at <> own_due_at AND due_at + interval '0' > statement_timestamp()
    AND id = ANY(ARRAY(
    SELECT next.id
    FROM (SELECT webhook_id, subject_id, subject_kind, max(event_id) AS event_id FROM done
          WHERE state <> {WAITING} AND subject_id IS NOT NULL GROUP BY 1, 2, 3) AS head
    CROSS JOIN LATERAL (
      SELECT id FROM deliveries_delivery_open
      WHERE webhook_id = head.webhook_id AND subject_id = head.subject_id
        AND subject_kind = head.subject_kind AND event_id > head.event_id
      ORDER BY event_id LIMIT 1) AS next))
  RETURNING webhook_id, due_at
), wakeups AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT webhook_id, due_at FROM woken
  UNION
  SELECT webhook_id, date_trunc('second', due_at) + interval '1 second'
  FROM done WHERE state = {WAITING}
)
SELECT count(*), count(CASE WHEN NOT apart THEN nextval('deliveries_attempt_id_seq') END)
FROM done
"""  # noqa: S608 - our own text

# A request that succeeds beside one whose response asked for a rest does not end the rest.
WELL = """
WITH well AS (
  UPDATE deliveries_health SET failures = 0, rests = 0, failing_since = NULL, resting_until = NULL,
    asked_until = NULL, catch_up_before = CASE WHEN rests > 0 OR failures >= %s
      THEN statement_timestamp() ELSE catch_up_before END,
    last_success_at = statement_timestamp()
  WHERE webhook_id = ANY(%s) AND failures > 0
    AND coalesce(asked_until <= statement_timestamp(), true)
  RETURNING webhook_id, coalesce(catch_up_before = statement_timestamp(), false) AS mended
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at)
  SELECT webhook_id, statement_timestamp() FROM well
)
SELECT webhook_id FROM well WHERE mended
"""

FAILING = """
INSERT INTO deliveries_health AS health (webhook_id, failures, rests, failing_since)
SELECT webhook_id, failures, 0, statement_timestamp()
FROM unnest(%s::bigint[], %s::integer[]) AS f(webhook_id, failures) ORDER BY webhook_id
ON CONFLICT (webhook_id) DO UPDATE SET
  failures = health.failures + excluded.failures,
  failing_since = coalesce(health.failing_since, excluded.failing_since)
"""

REST = """
WITH rest AS (
  UPDATE deliveries_health SET rests = rests + 1,
    resting_until = statement_timestamp()
      + make_interval(secs => least(%s, power(2, least(rests, 10))))
  WHERE webhook_id = ANY(%s) AND failures >= %s
    AND coalesce(resting_until <= statement_timestamp(), true)
  RETURNING webhook_id, resting_until, rests
), woken AS (
  INSERT INTO deliveries_wakeup (webhook_id, due_at) SELECT webhook_id, resting_until FROM rest
)
SELECT webhook_id FROM rest WHERE rests = 1
"""

# A receiver that says when to come back gets no requests until then.
REST_AS_ASKED = """
WITH rest AS (
  UPDATE deliveries_health AS health SET rests = greatest(health.rests, 1),
    resting_until = greatest(
      health.resting_until, statement_timestamp() + make_interval(secs => asked.rest)),
    asked_until = greatest(
      health.asked_until, statement_timestamp() + make_interval(secs => asked.rest))
  FROM unnest(%s::bigint[], %s::float8[]) AS asked(webhook_id, rest)
  WHERE health.webhook_id = asked.webhook_id
  RETURNING health.webhook_id, health.resting_until
)
INSERT INTO deliveries_wakeup (webhook_id, due_at) SELECT webhook_id, resting_until FROM rest
"""


def record_attempts(results: Sequence[AttemptResult], unwell: Collection[int] = ()) -> int:
    """Record finished attempts; returns how many deliveries were still held by their claim.

    `unwell`: webhooks that were failing, as far as the caller knows.
    """
    with statements.cursor() as cursor:
        # One JSON text costs a fraction of eleven arrays.
        cursor.execute(RECORD, [json.dumps([result_as_json(result) for result in results])])
        recorded_count, _ = cursor.fetchone() or (0, 0)
    if changes_health(results, unwell):
        update_health(results, unwell)
    return int(recorded_count)


def changes_health(results: Sequence[AttemptResult], unwell: Collection[int]) -> bool:
    """Return whether the health of a webhook changes: successes of healthy ones change nothing."""
    return any(each.state != DELIVERED or each.webhook_id in unwell for each in results)


def result_as_json(result: AttemptResult) -> dict[str, Any]:
    """Return the columns of an attempt for RECORD, without empty ones: these take time as well."""
    columns = {
        "id": result.delivery_id,
        "claim": result.claim,
        "state": result.state,
        "url": result.url,
        "started": result.started_at.timestamp(),
        "duration_ms": result.duration_ms,
        "status": result.status,
    }
    if result.answer:
        columns["answer"] = result.answer.hex()
    if result.state != DELIVERED:
        columns |= {"wait": result.wait, "error": result.error, "detail": result.detail}
        if result.retry_after:
            columns["asked"] = result.retry_after
        if result.keeps_place:
            columns["keeps_place"] = True
    return columns


def update_health(results: Sequence[AttemptResult], unwell: Collection[int]) -> None:
    rests = {
        result.webhook_id: result.rest
        for result in sorted(results, key=lambda result: result.rest)
        if result.rest
    }
    well = {result.webhook_id for result in results if result.state == DELIVERED} - rests.keys()
    recovered = well.intersection(unwell)
    failing: dict[int, int] = {}
    for result in results:
        failed = result.state != DELIVERED and not result.blameless
        if failed and result.webhook_id not in well:
            failing[result.webhook_id] = failing.get(result.webhook_id, 0) + 1
    unreachable = {result.webhook_id for result in results if result.unreachable} - well
    with statements.cursor() as cursor:
        if recovered:
            cursor.execute(WELL, [FAILURES_BEFORE_CATCHING_UP, sorted(recovered)])
            log_webhooks(logging.INFO, cursor.fetchall(), "is well again")
        if failing:
            cursor.execute(FAILING, [list(failing), list(failing.values())])
        if unreachable:
            cursor.execute(REST, [LONGEST_REST_SECONDS, sorted(unreachable), FAILURES_BEFORE_REST])
            log_webhooks(logging.WARNING, cursor.fetchall(), "rests: its requests get no answer")
        if rests:
            cursor.execute(REST_AS_ASKED, [list(rests), list(rests.values())])


def log_webhooks(level: int, rows: Iterable[tuple[int]], event: str) -> None:
    for (webhook_id,) in rows:
        if ATTEMPTS.may_log(f"that a webhook {event}"):
            extra = {"webhook_id": webhook_id}
            ATTEMPTS.logger.log(level, "webhook %d %s", webhook_id, event, extra=extra)
