"""Events from facts, only for event types that a webhook of the company listens to."""

from datetime import datetime
from uuid import UUID, uuid4

from deliveries.publishing import News, encode
from shipments.event_types.status import STATUS_EVENTS, Change
from shipments.event_types.surcharge import SURCHARGE
from shipments.models import Shipment, Surcharge
from webhooks.envelope import event_time
from webhooks.event_types import Payload

# (company id, event type id), as publishing.listening_types() returns them.
Listened = set[tuple[int, int]]


def status_news(
    shipment: Shipment, change: Change, now: datetime, listened: Listened
) -> list[News]:
    """Return the events of a change of status; store their time in `shipment.last_event_at`."""
    types = [
        event_type
        for event_type in STATUS_EVENTS
        if (shipment.company_id, event_type.id) in listened
        and (shipment.order or not event_type.needs_order)
    ]
    if not types:
        return []
    fact_id = uuid4()
    at = note_event_time(shipment, change.occurred_at, now)
    return [
        make_news(shipment, each.id, each.payload(shipment, change, at), fact_id) for each in types
    ]


def surcharge_news(
    shipment: Shipment, charge: Surcharge, now: datetime, listened: Listened
) -> list[News]:
    """Return the events of a surcharge; store their time in `shipment.last_event_at`."""
    if (shipment.company_id, SURCHARGE.id) not in listened:
        return []
    at = note_event_time(shipment, charge.created_at, now)
    return [make_news(shipment, SURCHARGE.id, SURCHARGE.payload(shipment, charge, at), uuid4())]


def note_event_time(shipment: Shipment, occurred_at: datetime, now: datetime) -> datetime:
    shipment.last_event_at = event_time(occurred_at, now, shipment.last_event_at)
    return shipment.last_event_at


def make_news(shipment: Shipment, type_id: int, payload: Payload, fact_id: UUID) -> News:
    return News(
        company_id=shipment.company_id,
        type=type_id,
        shipment_id=shipment.pk,
        tracking_number=shipment.tracking_number,
        body=encode(payload),
        ticket_id=None,
        fact_id=fact_id,
    )
