"""Signed tests: a valid request, its tampered twin, and one signed long ago (decision N7).

They are not deliveries: nothing is stored or logged.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from django.utils import timezone
from django.utils.translation import gettext_noop

from core.data.encryption import UnreadableSecret
from deliveries.engine.rendering import plain_headers, signed_headers
from deliveries.http.transport import Request
from deliveries.on_demand import advice
from deliveries.on_demand.sample_delivery import in_flight, send_request
from deliveries.publishing import encode
from webhooks import target_policy, targets
from webhooks.event_types import EventType, registry
from webhooks.models import Webhook
from webhooks.targets import Policy

TRACKING_NUMBER = "TEST0000001"
# No event has this number, so it does not confuse a receiver that tracks the highest one.
SEQUENCE = 0
# Receivers accept requests that are up to five minutes old.
OLD = timedelta(minutes=10)
UNREADABLE = gettext_noop(
    "We can no longer read this webhook's secret or auth_token. Set new ones."
)


class CannotTest(Exception):
    """There is no URL, or no event type at present; the message and the `code` say which."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Sample:
    """Content to sign. Each request has ids of its own, so that none is taken for a repeat."""

    id: str
    fact_id: str
    sequence: int
    body: bytes


@dataclass(frozen=True, slots=True)
class TestVerdict:
    """Result of a test. `rejects_tampered`: None if that was not tried or not answered."""

    delivered: bool
    status: int | None
    error: str | None
    duration_ms: int
    rejects_tampered: bool | None
    advice: list[str]


def try_webhook(webhook: Webhook) -> TestVerdict:
    """Send a sample; if it is accepted, send it again as only an attacker would.

    A signed sample is sent with one byte changed, and if that is refused, with a valid signature
    that is ten minutes old. An unsigned one with an auth_token is sent with a wrong token.

    Uses the network for as long as three deliveries may: never call it inside a transaction.
    Raises CannotTest, webhooks.targets.BadTarget, and sample_delivery.TooManyTestSends.
    """
    if webhook.fetched:
        raise CannotTest(
            "This webhook has no URL, so nothing can be sent:"
            f" GET /webhooks/{webhook.pk}/events has its events.",
            code="webhook_without_url",
        )
    event_type = registry.get(webhook.type_id)
    if event_type is None:
        raise CannotTest(
            "Events of this type cannot be sent at present. Try again later.",
            code="type_unavailable",
        )
    policy = target_policy.current_policy()
    targets.check_target(webhook.url, policy)
    with in_flight(webhook.company_id, requests=3):
        return try_all(webhook, event_type, policy)


def try_all(webhook: Webhook, event_type: EventType, policy: Policy) -> TestVerdict:
    body = encode(event_type.sample(webhook.company_id, TRACKING_NUMBER, timezone.now()))
    try:
        now = timezone.now()
        first = send_request(make_request(webhook, event_type, body, body, now), policy)
        second = third = None
        if first.delivered and event_type.signed:
            changed = make_request(webhook, event_type, body, tampered(body), timezone.now())
            second = send_request(changed, policy)
            if second.status is not None and 400 <= second.status < 500:
                old = make_request(webhook, event_type, body, body, timezone.now() - OLD)
                third = send_request(old, policy)
        elif first.delivered and webhook.auth_token:
            wrong = Request(webhook.url, body, plain_headers(uuid4().hex))
            third = send_request(wrong, policy)
    except UnreadableSecret:
        return TestVerdict(False, None, UNREADABLE, 0, None, [])
    rejects = None if second is None or second.status is None else not second.delivered
    sentences = advice.on_request(first)
    if second is not None:
        sentences += advice.on_tampered(second)
    if third is not None and third.delivered:
        sentences.append(advice.ACCEPTS_OLD if event_type.signed else advice.ACCEPTS_ANYBODY)
    sentences += advice.on_webhook(webhook)
    return TestVerdict(
        first.delivered, first.status, first.error, first.duration_ms, rejects, sentences
    )


def make_request(
    webhook: Webhook, event_type: EventType, signed_body: bytes, sent_body: bytes, at: datetime
) -> Request:
    """Return a request that is signed over one body, at a time, and sends another.

    Raises UnreadableSecret.
    """
    headers = plain_headers(webhook.auth_token)
    secret = webhook.signing_secret(timezone.now())
    if event_type.signed and secret:
        sample = Sample(str(uuid4()), str(uuid4()), SEQUENCE, signed_body)
        standard = webhook.standard_headers
        headers += signed_headers(sample, event_type.name, secret, at, standard=standard)
        headers.append(("X-Webhook-Test", "1"))
    return Request(webhook.url, sent_body, headers)


def tampered(body: bytes) -> bytes:
    """Return a body with its last digit changed: still JSON, of the same length and shape."""
    *_, last = re.finditer(rb"[0-9]", body)
    digit = b"%d" % ((int(last[0]) + 1) % 10)
    return body[: last.start()] + digit + body[last.end() :]
