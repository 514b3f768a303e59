"""Event types of changes of a shipment's status: payloads, schemas and samples.

The interface defines type 3; types 1, 2 and 4 are decisions W15 to W17. The order of the keys
matters: the body is signed and stored as bytes (decision W10).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from core.values.texts import gettext_noop
from shipments import statuses
from shipments.event_types.samples import DESCRIPTION, LOCATION, find_shipment, made_up_shipment
from shipments.models import Shipment
from webhooks.envelope import NUMBER, TEXT, envelope, envelope_schema, object_schema
from webhooks.event_types import EventType, Payload, Schema, registry

LEGACY_TIME = "%Y-%m-%d %H:%M:%S"
SAMPLE_ORDER = {
    "shop_id": 1,
    "order_identifier": "1001",
    "order_number": "1001",
    "order_name": "#1001",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A shipment's new status, with the carrier's details."""

    status: str
    description: str
    location: str
    occurred_at: datetime


@dataclass(frozen=True, kw_only=True)
class StatusEvent(EventType):
    """An event type of changes of status. The feed publishes all of STATUS_EVENTS."""

    data: Callable[[Shipment, Change], Payload]
    # If set, events are published only for shipments with a shop's order.
    needs_order: bool = False
    tag: str = "Shipping"

    def payload(self, shipment: Shipment, change: Change, at: datetime) -> Payload:
        """Make the payload; the unsigned legacy types send their data without the envelope."""
        data = self.data(shipment, change)
        return envelope(self.name, at, data) if self.signed else data

    def sample(self, company_id: int, tracking_number: str, now: datetime) -> Payload:
        shipment = find_shipment(company_id, tracking_number)
        change = Change(statuses.DELIVERED, DESCRIPTION, LOCATION, now)
        if shipment is None:
            shipment = made_up_shipment(tracking_number)
        else:
            change = latest_change(shipment)
        shipment.order = shipment.order or SAMPLE_ORDER
        return self.payload(shipment, change, now)


def latest_change(shipment: Shipment) -> Change:
    update = shipment.updates.order_by("-pk").first()
    if update is None:
        return Change(shipment.status, "", "", shipment.created_at)
    return Change(shipment.status, update.status_description, update.location, update.occurred_at)


def legacy(shipment: Shipment, change: Change) -> Payload:
    return {
        "carrierName": shipment.carrier_name,
        "trackingNumber": shipment.tracking_number,
        "status": statuses.title(change.status),
    }


def legacy_with_order(shipment: Shipment, change: Change) -> Payload:
    order = shipment.order or {}
    return {
        **legacy(shipment, change),
        "movementDate": change.occurred_at.astimezone(UTC).strftime(LEGACY_TIME),
        "orderData": {
            "shopId": order.get("shop_id"),
            "orderIdentifier": order.get("order_identifier"),
            "orderNumber": order.get("order_number"),
            "orderName": order.get("order_name"),
        },
    }


def tracking(shipment: Shipment, change: Change) -> Payload:
    return {
        "shipment_id": shipment.pk,
        "tracking_number": shipment.tracking_number,
        "carrier_name": shipment.carrier_name,
        "status": statuses.lower(change.status),
        "status_description": change.description,
        "location": change.location,
    }


def tracking_with_order(shipment: Shipment, change: Change) -> Payload:
    order = shipment.order or {}
    return {
        **tracking(shipment, change),
        "order_data": {
            "shop_id": order.get("shop_id"),
            "order_identifier": order.get("order_identifier"),
            "order_number": order.get("order_number"),
            "order_name": order.get("order_name"),
        },
    }


AS_THE_SHOP_HAS_IT: Schema = {"type": ["string", "integer", "null"]}
LEGACY_FIELDS: dict[str, Schema] = {"carrierName": TEXT, "trackingNumber": TEXT, "status": TEXT}
TRACKING_FIELDS: dict[str, Schema] = {
    "shipment_id": NUMBER,
    "tracking_number": TEXT,
    "carrier_name": TEXT,
    "status": {"type": "string", "description": "In lower case, for example delivered."},
    "status_description": TEXT,
    "location": TEXT,
}

ON_SHIPMENT_STATUS_UPDATE = StatusEvent(
    id=1,
    name="onShipmentStatusUpdate",
    signed=False,
    description=gettext_noop(
        "A shipment's status changed: carrier, tracking number and status. Legacy, unsigned."
    ),
    data=legacy,
    schema=object_schema(**LEGACY_FIELDS),
)
STATUS_UPDATE_WITH_ECOMMERCE_INFO = StatusEvent(
    id=2,
    name="statusUpdateWithEcommerceInfo",
    signed=False,
    description=gettext_noop(
        "As onShipmentStatusUpdate, with the date and the shop's order. Legacy, unsigned."
    ),
    data=legacy_with_order,
    needs_order=True,
    schema=object_schema(
        **LEGACY_FIELDS,
        movementDate={"type": "string", "description": "YYYY-MM-DD HH:MM:SS, UTC."},
        orderData=object_schema(
            shopId=AS_THE_SHOP_HAS_IT,
            orderIdentifier=AS_THE_SHOP_HAS_IT,
            orderNumber=AS_THE_SHOP_HAS_IT,
            orderName=AS_THE_SHOP_HAS_IT,
        ),
    ),
)
TRACKING_SIMPLE = StatusEvent(
    id=3,
    name="tracking.simple",
    signed=True,
    description=gettext_noop("A shipment's status changed: status, description and location."),
    data=tracking,
    schema=envelope_schema("tracking.simple", object_schema(**TRACKING_FIELDS)),
)
# Decision W14: the envelope's event name is that of the type.
ECOMMERCE_TRACKING = StatusEvent(
    id=4,
    name="ecommerceTracking",
    signed=True,
    description=gettext_noop(
        "As tracking.simple, with the shop's order, for shipments that carry one."
    ),
    data=tracking_with_order,
    needs_order=True,
    schema=envelope_schema(
        "ecommerceTracking",
        object_schema(
            **TRACKING_FIELDS,
            order_data=object_schema(
                shop_id=AS_THE_SHOP_HAS_IT,
                order_identifier=AS_THE_SHOP_HAS_IT,
                order_number=AS_THE_SHOP_HAS_IT,
                order_name=AS_THE_SHOP_HAS_IT,
            ),
        ),
    ),
)
# Events of one change are published, and so delivered, in this order.
STATUS_EVENTS = (
    ON_SHIPMENT_STATUS_UPDATE,
    STATUS_UPDATE_WITH_ECOMMERCE_INFO,
    TRACKING_SIMPLE,
    ECOMMERCE_TRACKING,
)
for event_type in STATUS_EVENTS:
    # Decision W1: existing clients send only a URL, and the default must be a signed type.
    registry.register(event_type, default=event_type is TRACKING_SIMPLE)
