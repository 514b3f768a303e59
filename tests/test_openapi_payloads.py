"""The payloads and headers of webhooks in GET /schema are those that are sent."""

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator

from companies.models import Company
from deliveries import publishing
from deliveries.engine.rendering import addresses, render
from shipments.event_types.status import STATUS_EVENTS, Change, StatusEvent
from shipments.event_types.surcharge import SURCHARGE
from shipments.models import Surcharge
from tests import builders as build
from tests.described import Schema, conforms, schema, webhooks
from tests.sending import claim
from tests.shipments.feeding import ORDER
from webhooks.event_types import EventType, registry

DESCRIBED = dict(webhooks())
SIGNED_OR_NOT = ["Content-Type", "User-Agent"]
EVERY = [pytest.param(each, id=each.name) for each in registry]
EVERY_STATUS = [pytest.param(each, id=each.name) for each in STATUS_EVENTS]


def body_schema(event_type: EventType) -> Schema:
    return schema(DESCRIBED[event_type.name]["requestBody"])


def test_tells_of_every_type() -> None:
    assert list(DESCRIBED) == [event_type.name for event_type in registry]


@pytest.mark.parametrize("event_type", EVERY_STATUS)
@pytest.mark.parametrize("order", [None, ORDER, dict.fromkeys(ORDER)])
def test_a_change_of_status_is_as_told(
    company: Company, event_type: StatusEvent, order: dict[str, object] | None
) -> None:
    now = timezone.now()
    shipment = build.shipment(company, order=order)

    payload = event_type.payload(shipment, Change("Lost", "", "", now), now)

    conforms(payload, body_schema(event_type))


@pytest.mark.parametrize(
    ("kind", "amount"), [("surcharge", Decimal(120)), ("refund", Decimal("12.50"))]
)
def test_a_surcharge_is_as_told(company: Company, kind: str, amount: Decimal) -> None:
    charge = Surcharge(
        surcharge_id=1,
        surcharge_type="Po Box",
        currency="MXN",
        transaction_type=kind,
        amount=amount,
    )

    payload = SURCHARGE.payload(build.shipment(company), charge, timezone.now())

    conforms(payload, body_schema(SURCHARGE))


@pytest.mark.parametrize("event_type", EVERY)
@pytest.mark.parametrize("number", ["TEST0004101", "UNKNOWN"])
def test_samples_are_as_told(company: Company, event_type: EventType, number: str) -> None:
    build.shipment(company, 4101)

    payload = event_type.sample(company.pk, number, timezone.now())

    conforms(payload, body_schema(event_type))


@pytest.mark.parametrize("event_type", EVERY)
def test_fields_that_are_added_one_day_pass_the_schema_of_today(
    company: Company, event_type: EventType
) -> None:
    """Promise of the API's changelog: a receiver may validate by GET /schema."""
    sample = event_type.sample(company.pk, "UNKNOWN", timezone.now())

    wrong = list(Draft202012Validator(body_schema(event_type)).iter_errors(with_more(sample)))

    assert [error.message for error in wrong] == []


def with_more(value: Any) -> Any:
    """Return the value with one more member in each object."""
    if isinstance(value, list):
        return [with_more(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {**{name: with_more(each) for name, each in value.items()}, "added_one_day": True}


@pytest.mark.parametrize("event_type", EVERY)
def test_the_headers_are_as_told(company: Company, event_type: EventType) -> None:
    wishes = {"auth_token": "tok-1234", "standard_headers": event_type.signed}
    webhook = build.webhook(company, event_type.id, **wishes)
    publishing.publish([build.news(company, type=event_type.id)])
    (delivery,) = claim(1)

    request = render(delivery, addresses([webhook.pk])[webhook.pk], timezone.now())

    schemas = {each["name"]: each["schema"] for each in DESCRIBED[event_type.name]["parameters"]}
    values = {name: value for name, value in request.headers if name not in SIGNED_OR_NOT}
    # Test requests alone carry it.
    schemas.pop("X-Webhook-Test", None)
    assert values.keys() == schemas.keys()
    for name, value in values.items():
        conforms(int(value) if schemas[name]["type"] == "integer" else value, schemas[name])
