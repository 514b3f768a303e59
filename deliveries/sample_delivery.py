"""The test delivery: one event's body to one URL, now, and what came of it (decision W24)."""

from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from companies.models import Company
from deliveries.engine.rendering import plain_headers
from deliveries.http.answers import Failure
from deliveries.http.transport import Request, send_one
from deliveries.publishing import encode
from webhooks import target_policy, targets
from webhooks.event_types import EventType, registry
from webhooks.models import Webhook

# One sentence per kind of failure and no detail. Whoever tries addresses must not learn which of
# them exist: a forbidden address, a closed port and an unknown name read the same.
UNREACHABLE = "The receiver cannot be reached."
NOT_HTTP = "The receiver closed the connection or did not answer in HTTP."
NOT_TLS = "The TLS connection failed: the receiver's certificate or TLS version is not accepted."
REASONS = {
    Failure.DNS: UNREACHABLE,
    Failure.FORBIDDEN_ADDRESS: UNREACHABLE,
    Failure.REFUSED: UNREACHABLE,
    Failure.TIMEOUT: "The receiver did not answer within the time limit.",
    Failure.TLS: NOT_TLS,
    Failure.TLS_EXPIRED: NOT_TLS,
    Failure.RESET: NOT_HTTP,
    Failure.PROTOCOL: NOT_HTTP,
}
OUR_FAULT = "The test could not be sent. Try again."
NOT_2XX = "The receiver must answer with a status from 200 to 299."


@dataclass(frozen=True, slots=True)
class Result:
    delivered: bool
    status: int | None
    error: str | None
    duration_ms: int


def send_sample(company: Company, *, tracking_number: str, url: str) -> Result:
    """Send what `url` would get for this tracking number, without X-Webhook headers.

    Speaks to the network for as long as a delivery may: never call it inside a transaction.
    Raises webhooks.targets.BadTarget.
    """
    allowed = target_policy.current_policy()
    targets.check_target(url, allowed)
    webhook = registered(company, url)
    payload = type_of(webhook).sample(company.pk, tracking_number, timezone.now())
    reply = send_one(
        Request(url, encode(payload), plain_headers(webhook.auth_token if webhook else None)),
        allowed,
        ca_bundle=settings.DELIVERY_CA_BUNDLE or None,
        timeout_seconds=settings.DELIVERY_TIMEOUT_SECONDS,
    )
    if reply.error is not None:
        return Result(False, None, REASONS.get(reply.error, OUR_FAULT), reply.duration_ms)
    return Result(reply.ok, reply.status, None if reply.ok else NOT_2XX, reply.duration_ms)


def registered(company: Company, url: str) -> Webhook | None:
    """The company's own webhook of this URL: an active one first, then the newest."""
    return company.webhooks.present().filter(url=url).order_by("-active", "-pk").first()


def type_of(webhook: Webhook | None) -> EventType:
    """The default where there is no webhook, or where nobody registered its type."""
    found = registry.get(webhook.type_id) if webhook else None
    return found or registry.default
