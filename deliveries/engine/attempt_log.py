"""Log lines and traces of finished attempts."""

import logging
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from core.watch import traces
from core.watch.log_bound import ATTEMPTS
from deliveries.engine.recording import AttemptResult
from deliveries.engine.rendering import host_of
from deliveries.http.answers import Failure
from deliveries.models import State

# Looked up once: access to a member of an enum takes longer than the comparison.
DELIVERED, GIVEN_UP = State.DELIVERED, State.GIVEN_UP
OUTCOMES = {State.WAITING: "retry", DELIVERED: "delivered", GIVEN_UP: "given_up"}


def log_attempts(results: Sequence[AttemptResult]) -> None:
    """Log the attempts that LOG_ATTEMPTS selects, and trace those whose request is traced."""
    selection = settings.LOG_ATTEMPTS
    if selection != "none":
        for result in results:
            failed = result.state != DELIVERED
            if selection == "all" or (failed and ATTEMPTS.may_log(reason_of(result))):
                log_attempt(result)
    for result in results:
        if result.traceparent is not None:
            trace_attempt(result, result.traceparent)


def reason_of(result: AttemptResult) -> str:
    """Return the status of the response, or the error, in a word or two."""
    return f"answered {result.status}" if result.status is not None else result.error


def level_of(result: AttemptResult) -> int:
    if result.error == Failure.INTERNAL:
        return logging.ERROR
    return logging.WARNING if result.state == GIVEN_UP else logging.INFO


def log_attempt(result: AttemptResult) -> None:
    waits = result.state == State.WAITING
    then = f"; again in {result.wait:.0f} s" if waits else ""
    ATTEMPTS.logger.log(
        level_of(result),
        "delivery %s to webhook %d of company %d, %s, attempt %d: %s after %d ms%s",
        result.delivery_id,
        result.webhook_id,
        result.company_id,
        host_of(result.url),
        result.number,
        reason_of(result),
        result.duration_ms,
        "; given up" if result.state == GIVEN_UP else then,
        extra={
            **attempt_facts(result),
            "outcome": OUTCOMES[result.state],
            "duration_ms": result.duration_ms,
            "retry_in_seconds": round(result.wait) if waits else None,
        },
    )


def attempt_facts(result: AttemptResult) -> dict[str, Any]:
    return {
        "request_id": result.request_id,
        "delivery_id": result.delivery_id,
        "event_id": result.event_id,
        "webhook_id": result.webhook_id,
        "company_id": result.company_id,
        "host": host_of(result.url),
        "attempt": result.number,
        "status": result.status,
        "error": result.error or None,
    }


def trace_attempt(result: AttemptResult, parent: str) -> None:
    traces.tracer.record(
        "attempt",
        parent,
        result.started_at,
        result.duration_ms / 1000,
        failed=result.state != DELIVERED,
        facts=attempt_facts(result),
    )
