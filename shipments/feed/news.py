"""From facts to news: bodies are made only for webhook types that somebody listens to."""

from collections.abc import Iterator
from datetime import datetime

from deliveries.publishing import News, encode
from shipments import payloads
from shipments.models import Shipment, Surcharge
from shipments.payloads import Change, Payload
from webhooks.event_types import WebhookType

# (company id, webhook type id), as publishing.listened() finds them
Listened = set[tuple[int, int]]


def of_status(
    shipment: Shipment, change: Change, now: datetime, listened: Listened
) -> Iterator[News]:
    for type_id in payloads.told_of_status(shipment):
        if (shipment.company_id, type_id) in listened:
            yield about(shipment, type_id, payloads.status_payload(type_id, shipment, change, now))


def of_surcharge(
    shipment: Shipment, charge: Surcharge, now: datetime, listened: Listened
) -> Iterator[News]:
    if (shipment.company_id, WebhookType.SURCHARGE) in listened:
        yield about(shipment, WebhookType.SURCHARGE, payloads.surcharge(shipment, charge, now))


def about(shipment: Shipment, type_id: WebhookType, payload: Payload) -> News:
    return News(
        company_id=shipment.company_id,
        type=type_id,
        shipment_id=shipment.pk,
        tracking_number=shipment.tracking_number,
        body=encode(payload),
    )
