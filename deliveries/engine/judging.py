"""What a reply makes of its delivery (decision W19). Pure but for the settings."""

from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple

from django.conf import settings

from deliveries.engine import recording
from deliveries.engine.loans import Claimed
from deliveries.engine.recording import AttemptResult
from deliveries.engine.rooms import Flight
from deliveries.engine.schedule import LONGEST_RETRY_AFTER, next_wait
from deliveries.http.answers import Failure, Reply
from deliveries.models import State

# Once for all results: looking up a member of an enum takes longer than the comparison.
DELIVERED, GONE = State.DELIVERED, HTTPStatus.GONE
ASKS_FOR_REST = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
# None is an answer, whatever its status. The others end before anybody was asked.
NOT_THE_RECEIVERS_FAULT = (None, Failure.INTERNAL, Failure.BAD_TARGET)
OVER_TIME = (Failure.TIMEOUT, Failure.DNS)
NOT_ASKED = (Failure.NOT_SENT, Failure.PROXY)
# What the proxy does not let through is tried again after so long, twice as long each time.
PROXY_WAIT_SECONDS, LONGEST_PROXY_WAIT_SECONDS = 5.0, 900.0


class Sent(NamedTuple):
    """What comes back with the reply. `at`: the instant that it is signed with."""

    delivery: Claimed
    url: str
    at: datetime
    flight: Flight


def judge(sent: Sent, reply: Reply, dice: float) -> AttemptResult:
    """The result of an attempt; `dice` in [0, 1) spreads the retries."""
    delivery = sent.delivery
    result = AttemptResult(
        delivery_id=delivery.id,
        claim=delivery.claim,
        webhook_id=delivery.webhook_id,
        state=DELIVERED,
        url=sent.url,
        started_at=sent.at,
        duration_ms=reply.duration_ms,
        status=reply.status,
        answer=reply.answer,
        number=delivery.attempts + 1,
        company_id=sent.flight.lane.company_id,
        event_id=delivery.event_id,
        request_id=delivery.request_id,
        traceparent=delivery.traceparent,
    )
    if not reply.ok:
        note_failure(result, delivery, reply, dice)
    return result


def note_failure(result: AttemptResult, delivery: Claimed, reply: Reply, dice: float) -> None:
    """When it is tried again, if it is, and what that says of its receiver."""
    asked = 0.0
    barred = reply.error is Failure.PROXY_REFUSED
    if reply.status in ASKS_FOR_REST:
        asked = min(reply.retry_after or 0.0, LONGEST_RETRY_AFTER)
    if barred:
        until: float | None = proxy_wait(delivery)
    elif delivery.pulled:
        until = asked
    else:
        until = next_wait(delivery.step + 1, settings.DELIVERY_RETRY_SECONDS, dice, asked)
    result.state = State.GIVEN_UP if until is None else State.WAITING
    result.wait = until or 0.0
    result.error = str(reply.error or "")
    result.detail = reply.detail
    result.unreachable = not barred and reply.error not in NOT_THE_RECEIVERS_FAULT
    result.rest = min(asked, recording.LONGEST_REST_SECONDS)
    result.asked = asked
    result.keeps_place = delivery.pulled or barred
    result.blameless = barred


def proxy_wait(delivery: Claimed) -> float:
    """Seconds until the next try at the same rung: `attempts` beyond `step` were free as well."""
    free = max(0, delivery.attempts - delivery.step)
    return min(PROXY_WAIT_SECONDS * 2.0 ** min(free, 10), LONGEST_PROXY_WAIT_SECONDS)


def wants_silence(result: AttemptResult) -> bool:
    """Whether the receiver said to send nothing more for now, which holds from that moment."""
    return bool(result.rest) or result.status == GONE
