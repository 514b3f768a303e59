"""Outcome of an attempt, derived from its reply (decision W19). Pure except for the settings."""

from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple

from django.conf import settings

from deliveries.engine import recording
from deliveries.engine.loans import Claimed
from deliveries.engine.recording import AttemptResult
from deliveries.engine.schedule import LONGEST_RETRY_AFTER, next_wait
from deliveries.engine.slots import Flight
from deliveries.http.answers import Failure, Reply
from deliveries.models import State

# Looked up once: access to a member of an enum takes longer than the comparison.
DELIVERED = State.DELIVERED
HTTP_GONE = HTTPStatus.GONE
ASKS_FOR_REST = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
# With None there is a response. The other failures occur before the receiver is contacted.
NOT_THE_RECEIVERS_FAULT = (None, Failure.INTERNAL, Failure.BAD_TARGET)
OVER_TIME = (Failure.TIMEOUT, Failure.DNS)
NOT_ASKED = (Failure.NOT_SENT, Failure.PROXY)
# Backoff after a refusal by the proxy; it doubles each time.
PROXY_WAIT_SECONDS, LONGEST_PROXY_WAIT_SECONDS = 5.0, 900.0


class AttemptContext(NamedTuple):
    """Context of a sent request, returned with its reply. `at` is the signature's timestamp."""

    delivery: Claimed
    url: str
    at: datetime
    flight: Flight


def judge(context: AttemptContext, reply: Reply, dice: float) -> AttemptResult:
    """Return the result of an attempt. `dice` is in [0, 1) and spreads the retries."""
    delivery = context.delivery
    result = AttemptResult(
        delivery_id=delivery.id,
        claim=delivery.claim,
        webhook_id=delivery.webhook_id,
        state=DELIVERED,
        url=context.url,
        started_at=context.at,
        duration_ms=reply.duration_ms,
        status=reply.status,
        answer=reply.answer,
        number=delivery.attempts + 1,
        company_id=context.flight.lane.company_id,
        event_id=delivery.event_id,
        request_id=delivery.request_id,
        traceparent=delivery.traceparent,
    )
    if not reply.ok:
        add_failure(result, delivery, reply, dice)
    return result


def add_failure(result: AttemptResult, delivery: Claimed, reply: Reply, dice: float) -> None:
    """Add to the result when to retry, if at all, and what the failure means for the receiver."""
    retry_after = 0.0
    refused_by_proxy = reply.error is Failure.PROXY_REFUSED
    if reply.status in ASKS_FOR_REST:
        retry_after = min(reply.retry_after or 0.0, LONGEST_RETRY_AFTER)
    if refused_by_proxy:
        wait: float | None = proxy_wait(delivery)
    elif delivery.pulled:
        wait = retry_after
    else:
        wait = next_wait(delivery.step + 1, settings.DELIVERY_RETRY_SECONDS, dice, retry_after)
    result.state = State.GIVEN_UP if wait is None else State.WAITING
    result.wait = wait or 0.0
    result.error = str(reply.error or "")
    result.detail = reply.detail
    result.unreachable = not refused_by_proxy and reply.error not in NOT_THE_RECEIVERS_FAULT
    result.rest = min(retry_after, recording.LONGEST_REST_SECONDS)
    result.retry_after = retry_after
    result.keeps_place = delivery.pulled or refused_by_proxy
    result.blameless = refused_by_proxy


def proxy_wait(delivery: Claimed) -> float:
    """Return the backoff in seconds. Refusals count as `attempts`, but do not raise `step`."""
    refusals = max(0, delivery.attempts - delivery.step)
    return min(PROXY_WAIT_SECONDS * 2.0 ** min(refusals, 10), LONGEST_PROXY_WAIT_SECONDS)


def wants_silence(result: AttemptResult) -> bool:
    """Return whether the receiver asked for no further requests, which takes effect at once."""
    return bool(result.rest) or result.status == HTTP_GONE
