"""Feeds of any size, with the events they must cause."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import transaction

from companies.models import Company
from deliveries import publishing
from shipments.event_types.status import STATUS_EVENTS, TRACKING_SIMPLE
from shipments.event_types.surcharge import SURCHARGE
from tools.faults.ledger import Event
from tools.faults.receiver import Receiver
from webhooks import services
from webhooks.models import Webhook

STATUSES = ("Picked Up", "Shipped", "Information", "Out for Delivery", "Delivered", "Returned")


def register_signed(company: Company, receiver: Receiver) -> Webhook:
    """Register a webhook at the receiver for events of type 3, which are signed."""
    return services.register_webhook(company, type_id=TRACKING_SIMPLE.id, url=f"{receiver.url}/3")


@dataclass(frozen=True)
class Feed:
    """Feed in which every other shipment has a shop's order, and each update changes the status."""

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

    def events(self) -> list[Event]:
        """Events that a webhook of tracking.simple must get."""
        return [
            (number % self.shipments + 1, number // self.shipments)
            for number in range(self.updates)
        ]

    def text(self) -> bytes:
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines())

    def parts(self, count: int) -> list[bytes]:
        """Split the text into `count` parts with equal numbers of updates."""
        lines = self.text().splitlines(keepends=True)
        ends = [self.shipments + self.updates * part // count for part in range(1, count)] + [
            len(lines)
        ]
        starts = [0, *ends[:-1]]
        return [b"".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)]

    def expected(self) -> dict[int, int]:
        """Return the number of events of each event type that the feed causes."""
        with_order = sum(number % self.shipments % 2 == 0 for number in range(self.updates))
        counts = {
            each.id: with_order if each.needs_order else self.updates for each in STATUS_EVENTS
        }
        return Counter({**counts, SURCHARGE.id: self.surcharges})


# Number of shipments among which events published without a feed are spread.
SHIPMENTS = 97


def event_numbered(number: int) -> Event:
    return number % SHIPMENTS, number // SHIPMENTS


def publish_numbered(company: Company, numbers: Iterable[int]) -> None:
    """Publish events of tracking.simple in one transaction, in the order of their numbers."""
    news = []
    for number in numbers:
        shipment_id, location = event_numbered(number)
        payload = {
            "type": TRACKING_SIMPLE.name,
            "data": {"shipment_id": shipment_id, "location": f"{location}"},
        }
        body = publishing.encode(payload)
        news.append(publishing.News(company.pk, TRACKING_SIMPLE.id, shipment_id, "", body, None))
    with transaction.atomic():
        publishing.publish(news)
