"""The payloads and headers that GET /schema tells of webhooks are those that are sent."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.utils import timezone

from companies.models import Company
from deliveries import publishing
from deliveries.engine import claiming
from deliveries.engine.rendering import addresses, render
from shipments import payloads
from shipments.models import Surcharge
from shipments.payloads import Change
from tests import builders as build
from tests.described import conforms, schema, webhooks
from tests.shipments.feeding import ORDER
from webhooks.event_types import CATALOGUE, WebhookType

TOLD = dict(webhooks())
SIGNED_OR_NOT = ["Content-Type", "User-Agent"]


def test_tells_of_every_type() -> None:
    assert list(TOLD) == [entry.name for entry in CATALOGUE.values()]


def said(company: Company, type_id: WebhookType) -> Iterator[dict]:
    """What is sent of a shipment with little to tell, and of one with everything."""
    now = timezone.now()
    shipment = build.shipment(company)
    if type_id == WebhookType.SURCHARGE:
        for kind, amount in (("surcharge", Decimal(120)), ("refund", Decimal("12.50"))):
            charge = Surcharge(surcharge_id=1, surcharge_type="Po Box", currency="MXN")
            charge.transaction_type, charge.amount = kind, amount
            yield payloads.surcharge(shipment, charge, now)
        return
    for order in (None, ORDER, dict.fromkeys(ORDER)):
        shipment.order = order
        yield payloads.status_payload(type_id, shipment, Change("Lost", "", "", now), now)


@pytest.mark.parametrize("type_id", WebhookType)
def test_the_payloads_are_as_told(company: Company, type_id: WebhookType) -> None:
    told = schema(TOLD[CATALOGUE[type_id].name]["requestBody"])

    for payload in said(company, type_id):
        conforms(payload, told)


@pytest.mark.parametrize("type_id", WebhookType)
def test_the_headers_are_as_told(company: Company, type_id: WebhookType) -> None:
    webhook = build.webhook(company, type_id, auth_token="tok-1234")
    publishing.publish([build.news(company, type=type_id)])
    (delivery,) = claiming.claim({webhook.pk: 1})

    request = render(delivery, addresses([webhook.pk])[webhook.pk], timezone.now())

    told = {each["name"]: each["schema"] for each in TOLD[CATALOGUE[type_id].name]["parameters"]}
    sent = {name: value for name, value in request.headers if name not in SIGNED_OR_NOT}
    assert sent.keys() == told.keys()
    for name, value in sent.items():
        conforms(int(value) if told[name]["type"] == "integer" else value, told[name])
