"""The test delivery: one event's body to one URL, now, and what came of it (decision W24)."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.conf import settings
from django.utils import timezone

from companies.models import Company
from deliveries.engine.rendering import plain_headers
from deliveries.http.answers import Failure
from deliveries.http.transport import Request, send_one
from deliveries.publishing import encode
from shipments import payloads, statuses
from shipments.models import Shipment, Surcharge
from shipments.payloads import Change, Payload
from webhooks import target_policy, targets
from webhooks.event_types import DEFAULT, WebhookType
from webhooks.models import Webhook

ORDER = {
    "shop_id": 1,
    "order_identifier": "1001",
    "order_number": "1001",
    "order_name": "#1001",
}
DESCRIPTION = "Sample of a webhook test"

# One sentence per kind of failure and no detail. Whoever tries addresses must not learn which of
# them exist: a forbidden address, a closed port and an unknown name read the same.
UNREACHABLE = "The receiver cannot be reached."
NOT_HTTP = "The receiver broke off, or did not answer in HTTP."
NOT_TLS = "No secure connection: the receiver's certificate or TLS is not accepted."
REASONS = {
    Failure.DNS: UNREACHABLE,
    Failure.FORBIDDEN_ADDRESS: UNREACHABLE,
    Failure.REFUSED: UNREACHABLE,
    Failure.TIMEOUT: "The receiver did not answer in the time allowed.",
    Failure.TLS: NOT_TLS,
    Failure.TLS_EXPIRED: NOT_TLS,
    Failure.RESET: NOT_HTTP,
    Failure.PROTOCOL: NOT_HTTP,
}
OUR_FAULT = "The test could not be sent; try again."
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
    allowed = target_policy.current()
    targets.check(url, allowed)
    webhook = registered(company, url)
    type_id = WebhookType(webhook.type_id) if webhook else DEFAULT
    payload = sample(company, type_id, tracking_number, timezone.now())
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


def sample(company: Company, type_id: WebhookType, number: str, now: datetime) -> Payload:
    """The shipment's own data where the company has it, else made up around the number."""
    shipment = company.shipments.filter(tracking_number=number).order_by("-pk").first()
    if type_id == WebhookType.SURCHARGE:
        charge = shipment and shipment.surcharges.order_by("-pk").first()
        return payloads.surcharge(
            shipment or made_up_shipment(number), charge or made_up_charge(), now
        )
    change = latest_change(shipment) if shipment else made_up_change(now)
    shipment = shipment or made_up_shipment(number)
    shipment.order = shipment.order or ORDER
    return payloads.status_payload(type_id, shipment, change, now)


def latest_change(shipment: Shipment) -> Change:
    update = shipment.updates.order_by("-pk").first()
    if update is None:
        return Change(shipment.status, "", "", shipment.created_at)
    return Change(shipment.status, update.status_description, update.location, update.occurred_at)


def made_up_shipment(number: str) -> Shipment:
    return Shipment(id=1, tracking_number=number, carrier_name="sample")


def made_up_change(now: datetime) -> Change:
    return Change(statuses.DELIVERED, DESCRIPTION, "", now)


def made_up_charge() -> Surcharge:
    return Surcharge(
        surcharge_id=1,
        transaction_type=Surcharge.Transaction.SURCHARGE.value,
        surcharge_type="Overweight",
        reason=DESCRIPTION,
        amount=Decimal(10),
        currency="MXN",
    )
