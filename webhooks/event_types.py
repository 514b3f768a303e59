"""The closed catalogue of webhook types (interface, Webhook type). No database here.

Closed, and in code rather than a table: what is signed and what is said depend on it.
"""

from dataclasses import dataclass
from enum import IntEnum


class WebhookType(IntEnum):
    SHIPMENT_STATUS = 1
    STATUS_WITH_ECOMMERCE = 2
    TRACKING_SIMPLE = 3
    ECOMMERCE_TRACKING = 4
    SURCHARGE = 5


@dataclass(frozen=True, slots=True)
class Entry:
    id: WebhookType
    name: str
    description: str
    signed: bool


CATALOGUE: dict[int, Entry] = {
    entry.id: entry
    for entry in (
        Entry(
            WebhookType.SHIPMENT_STATUS,
            "onShipmentStatusUpdate",
            "A shipment's status changed: carrier, tracking number and status. Legacy, unsigned.",
            signed=False,
        ),
        Entry(
            WebhookType.STATUS_WITH_ECOMMERCE,
            "statusUpdateWithEcommerceInfo",
            "As onShipmentStatusUpdate, with the date and the shop's order. Legacy, unsigned.",
            signed=False,
        ),
        Entry(
            WebhookType.TRACKING_SIMPLE,
            "tracking.simple",
            "A shipment's status changed: status, description and location.",
            signed=True,
        ),
        Entry(
            WebhookType.ECOMMERCE_TRACKING,
            "ecommerceTracking",
            "As tracking.simple, with the shop's order, for shipments that carry one.",
            signed=True,
        ),
        Entry(
            WebhookType.SURCHARGE,
            "surcharge",
            "An extra charge was applied to a shipment, or refunded.",
            signed=True,
        ),
    )
}

# Decision W1: known clients send only a url, and the default must be a signed type.
DEFAULT = WebhookType.TRACKING_SIMPLE
