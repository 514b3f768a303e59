"""Makes events from facts, only for event types that a webhook of the company listens to."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID, uuid4

from deliveries.publishing import News, encode
from shipments.event_types.status import STATUS_EVENTS, Change
from shipments.event_types.surcharge import SURCHARGE
from shipments.models import Shipment, Surcharge
from webhooks.event_types import Payload

# (company id, event type id), as publishing.listening_types() finds them
Listened = set[tuple[int, int]]


def status_news(
    shipment: Shipment, change: Change, now: datetime, listened: Listened
) -> Iterator[News]:
    fact_id = uuid4()
    for event_type in STATUS_EVENTS:
        if (shipment.company_id, event_type.id) not in listened:
            continue
        if shipment.order or not event_type.needs_order:
            payload = event_type.payload(shipment, change, now)
            yield about(shipment, event_type.id, payload, fact_id)


def surcharge_news(
    shipment: Shipment, charge: Surcharge, now: datetime, listened: Listened
) -> Iterator[News]:
    if (shipment.company_id, SURCHARGE.id) in listened:
        yield about(shipment, SURCHARGE.id, SURCHARGE.payload(shipment, charge, now), uuid4())


def about(shipment: Shipment, type_id: int, payload: Payload, fact_id: UUID) -> News:
    return News(
        company_id=shipment.company_id,
        type=type_id,
        shipment_id=shipment.pk,
        tracking_number=shipment.tracking_number,
        body=encode(payload),
        fact_id=fact_id,
    )
