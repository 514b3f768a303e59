"""What each webhook type says of a fact: a shipment and what happened in, a dict out. Pure.

Types 3 and 5 are the interface's, key for key; types 1, 2 and 4 are decisions W15 to W17. Their
order of keys is part of the body, which is signed and kept as bytes (decision W10).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from shipments import statuses
from shipments.models import Shipment, Surcharge
from webhooks.event_types import CATALOGUE, WebhookType

Payload = dict[str, Any]

LEGACY_TIME = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True, slots=True)
class Change:
    """A shipment's status as it became, and what the carrier said of it."""

    status: str
    description: str
    location: str
    occurred_at: datetime


def told_of_status(shipment: Shipment) -> Collection[WebhookType]:
    """The types that a change of status is news for: ecommerce ones only with an order."""
    return STATUS_PAYLOADS if shipment.order else PLAIN_STATUS_TYPES


def status_payload(
    type_id: WebhookType, shipment: Shipment, change: Change, now: datetime
) -> Payload:
    return STATUS_PAYLOADS[type_id](shipment, change, now)


def shipment_status(shipment: Shipment, change: Change, now: datetime) -> Payload:
    return {
        "carrierName": shipment.carrier_name,
        "trackingNumber": shipment.tracking_number,
        "status": statuses.title(change.status),
    }


def status_with_ecommerce(shipment: Shipment, change: Change, now: datetime) -> Payload:
    order = shipment.order or {}
    return {
        **shipment_status(shipment, change, now),
        "movementDate": change.occurred_at.astimezone(UTC).strftime(LEGACY_TIME),
        "orderData": {
            "shopId": order.get("shop_id"),
            "orderIdentifier": order.get("order_identifier"),
            "orderNumber": order.get("order_number"),
            "orderName": order.get("order_name"),
        },
    }


def tracking_simple(shipment: Shipment, change: Change, now: datetime) -> Payload:
    return envelope(WebhookType.TRACKING_SIMPLE, now, tracking(shipment, change))


def ecommerce_tracking(shipment: Shipment, change: Change, now: datetime) -> Payload:
    order = shipment.order or {}
    data = {
        **tracking(shipment, change),
        "order_data": {
            "shop_id": order.get("shop_id"),
            "order_identifier": order.get("order_identifier"),
            "order_number": order.get("order_number"),
            "order_name": order.get("order_name"),
        },
    }
    return envelope(WebhookType.ECOMMERCE_TRACKING, now, data)


def surcharge(shipment: Shipment, charge: Surcharge, now: datetime) -> Payload:
    data = {
        "surcharge_id": charge.surcharge_id,
        "shipment_id": shipment.pk,
        "tracking_number": shipment.tracking_number,
        "carrier_name": shipment.carrier_name,
        "surcharge_data": {
            "surcharge_type": charge.surcharge_type,
            "reason": charge.reason,
            "amount": number(charge.amount),
            "currency": charge.currency,
            "transaction_type": charge.transaction_type,
        },
    }
    return envelope(WebhookType.SURCHARGE, now, data)


def envelope(type_id: WebhookType, now: datetime, data: Payload) -> Payload:
    """The signed types: decision W14 gives type 4 the name it has in the catalogue."""
    moment = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"type": CATALOGUE[type_id].name, "created_at": moment, "data": data}


def tracking(shipment: Shipment, change: Change) -> Payload:
    return {
        "shipment_id": shipment.pk,
        "tracking_number": shipment.tracking_number,
        "carrier_name": shipment.carrier_name,
        "status": statuses.lower(change.status),
        "status_description": change.description,
        "location": change.location,
    }


def number(amount: Decimal) -> int | float:
    """A JSON number as people write it: 120, 12.5. A float gives back up to 15 digits as given."""
    return int(amount) if amount == amount.to_integral_value() else float(amount)


STATUS_PAYLOADS: dict[WebhookType, Callable[[Shipment, Change, datetime], Payload]] = {
    WebhookType.SHIPMENT_STATUS: shipment_status,
    WebhookType.STATUS_WITH_ECOMMERCE: status_with_ecommerce,
    WebhookType.TRACKING_SIMPLE: tracking_simple,
    WebhookType.ECOMMERCE_TRACKING: ecommerce_tracking,
}
PLAIN_STATUS_TYPES = (WebhookType.SHIPMENT_STATUS, WebhookType.TRACKING_SIMPLE)
