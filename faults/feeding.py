"""Makes a feed of any size, and says which events it must cause."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from shipments.event_types.status import STATUS_EVENTS
from shipments.event_types.surcharge import SURCHARGE

STATUSES = ("Picked Up", "Shipped", "Information", "Out for Delivery", "Delivered", "Returned")


@dataclass(frozen=True)
class Feed:
    """A feed. Every other shipment has a shop's order; each update changes the status."""

    company_id: int
    shipments: int
    updates: int
    surcharges: int = 0

    def lines(self) -> Iterator[dict]:
        for shipment_id in range(1, self.shipments + 1):
            line = {
                "kind": "shipment",
                "shipment_id": shipment_id,
                "company_id": self.company_id,
                "tracking_number": f"TRACK{shipment_id:07}",
                "carrier_name": "acme",
            }
            if shipment_id % 2:
                line["order"] = {
                    "shop_id": 7,
                    "order_identifier": f"id-{shipment_id}",
                    "order_number": f"{shipment_id}",
                    "order_name": f"#{shipment_id}",
                }
            yield line
        for number in range(self.updates):
            yield {
                "kind": "tracking",
                "shipment_id": number % self.shipments + 1,
                "status": STATUSES[number // self.shipments % len(STATUSES)],
                "location": f"{number // self.shipments}",
            }
        for number in range(self.surcharges):
            yield {
                "kind": "surcharge",
                "surcharge_id": number + 1,
                "shipment_id": number % self.shipments + 1,
                "surcharge_type": "Overweight",
                "amount": 12.5,
                "currency": "MXN",
                "transaction_type": "surcharge",
            }

    def text(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines())

    def expected(self) -> dict[int, int]:
        """How many events of each event type the feed causes."""
        with_order = sum(number % self.shipments % 2 == 0 for number in range(self.updates))
        counts = {
            each.id: with_order if each.needs_order else self.updates for each in STATUS_EVENTS
        }
        return Counter({**counts, SURCHARGE.id: self.surcharges})
