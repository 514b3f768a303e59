"""The test send: one event's body to one URL, now, and its result (decision W24).

A web thread waits for it, so few are in flight at a time over all web processes.
Why: decision page web-test-sends-are-few-at-a-time.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_noop

from companies.models import Company
from core.data import locks
from core.data.encryption import UnreadableSecret
from core.measures import catalogue, counting
from deliveries.engine.rendering import plain_headers
from deliveries.http.answers import Failure
from deliveries.http.transport import Request, send_one
from deliveries.models import SampleSend
from deliveries.publishing import encode
from webhooks import target_policy, targets
from webhooks.event_types import EventType, registry
from webhooks.models import Webhook
from webhooks.outgoing import parse_proxy
from webhooks.targets import Policy

# One sentence per kind of failure and no detail. Whoever tries addresses must not learn which of
# them exist: a forbidden address, a closed port and an unknown name read the same.
UNREACHABLE = gettext_noop("The receiver cannot be reached.")
NOT_HTTP = gettext_noop("The receiver closed the connection or did not answer in HTTP.")
NOT_TLS = gettext_noop(
    "The TLS connection failed: the receiver's certificate or TLS version is not accepted."
)
REASONS = {
    Failure.DNS: UNREACHABLE,
    Failure.FORBIDDEN_ADDRESS: UNREACHABLE,
    Failure.REFUSED: UNREACHABLE,
    Failure.TIMEOUT: gettext_noop("The receiver did not answer within the time limit."),
    Failure.TLS: NOT_TLS,
    Failure.TLS_EXPIRED: NOT_TLS,
    Failure.RESET: NOT_HTTP,
    Failure.PROTOCOL: NOT_HTTP,
}
UNREADABLE = gettext_noop("We can no longer read this webhook's auth_token. Set it again.")
OUR_FAULT = gettext_noop("The test could not be sent. Try again.")
NOT_2XX = gettext_noop("The receiver must answer with a status from 200 to 299.")

# Test sends in flight at a time: per company, in all, and per web process, at least half of whose
# threads (Procfile) stay free for everything else.
PER_COMPANY = 2
IN_ALL = 8
PER_PROCESS = 4


class TooManyTestSends(Exception):
    """The limit of test sends in flight is reached; `wait`: seconds until they have ended."""

    def __init__(self, quantity: str) -> None:
        super().__init__(f"{quantity} test sends are in progress. Try again when they have ended.")
        self.wait: float = settings.DELIVERY_TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True)
class Result:
    delivered: bool
    status: int | None
    error: str | None
    duration_ms: int


def send_sample(company: Company, *, tracking_number: str, url: str) -> Result:
    """Send what `url` would get for this tracking number, without X-Webhook headers.

    Uses the network for as long as a delivery may: never call it inside a transaction.
    Raises webhooks.targets.BadTarget, and TooManyTestSends.
    """
    policy = target_policy.current_policy()
    targets.check_target(url, policy)
    with in_flight(company.pk):
        return send(company, policy, tracking_number=tracking_number, url=url)


def send(company: Company, policy: Policy, *, tracking_number: str, url: str) -> Result:
    webhook = registered(company, url)
    payload = type_of(webhook).sample(company.pk, tracking_number, timezone.now())
    try:
        headers = plain_headers(webhook.auth_token if webhook else None)
    except UnreadableSecret:
        return Result(False, None, UNREADABLE, 0)
    return send_request(Request(url, encode(payload), headers), policy)


def send_request(request: Request, policy: Policy) -> Result:
    """Send one request; the result does not reveal which addresses exist."""
    reply = send_one(
        request,
        policy,
        ca_bundle=settings.DELIVERY_CA_BUNDLE or None,
        timeout_seconds=settings.DELIVERY_TIMEOUT_SECONDS,
        proxy=parse_proxy(settings.DELIVERY_PROXY),
    )
    outcome = "delivered" if reply.ok else "refused" if reply.error is None else "failed"
    counting.count(catalogue.SAMPLE_SENDS, outcome)
    if reply.error is not None:
        return Result(False, None, REASONS.get(reply.error, OUR_FAULT), reply.duration_ms)
    return Result(reply.ok, reply.status, None if reply.ok else NOT_2XX, reply.duration_ms)


@contextmanager
def in_flight(company_id: int, *, requests: int = 1) -> Iterator[None]:
    """Count as a test send in flight, with `requests` one after the other.

    Raises TooManyTestSends if the limit is reached.
    """
    send_id = take_place(company_id, requests)
    try:
        yield
    finally:
        SampleSend.objects.filter(pk=send_id).delete()


@transaction.atomic
def take_place(company_id: int, requests: int = 1) -> int:
    process = process_name()
    locks.hold(locks.LockClass.TEST_SENDS)
    # Rows of processes that were killed.
    SampleSend.objects.filter(until__lte=Now()).delete()
    sends = list(SampleSend.objects.values_list("company_id", "process"))
    if sum(company == company_id for company, _ in sends) >= PER_COMPANY:
        raise TooManyTestSends(f"{PER_COMPANY} of your")
    if len(sends) >= IN_ALL or sum(name == process for _, name in sends) >= PER_PROCESS:
        raise TooManyTestSends("Many")
    longest = timedelta(seconds=2 * requests * settings.DELIVERY_TIMEOUT_SECONDS)
    row = SampleSend.objects.create(company_id=company_id, process=process, until=Now() + longest)
    return row.pk


def process_name() -> str:
    return f"{os.getpid()} on {socket.gethostname()}"


def registered(company: Company, url: str) -> Webhook | None:
    """Return the company's own webhook with this URL: active ones first, then the newest."""
    return company.webhooks.present().filter(url=url).order_by("-active", "-pk").first()


def type_of(webhook: Webhook | None) -> EventType:
    """Return a webhook's event type; the default without a webhook or if it is not registered."""
    event_type = registry.get(webhook.type_id) if webhook else None
    return event_type or registry.default
