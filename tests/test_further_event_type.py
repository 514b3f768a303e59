"""A further event type, registered here: it works everywhere, and no production file names it."""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.models import Delivery, Event
from deliveries.publishing import encode
from tests import builders as build
from tests.described import Schema, conforms
from tests.sending import deliver
from tests.test_architecture import ROOT
from tickets.changes.news import publish_of_ticket
from tickets.models import Ticket
from tools.faults.receiver import Receiver
from webhooks.envelope import TEXT, envelope, envelope_schema, object_schema
from webhooks.event_types import EventType, Payload, registry
from webhooks.targets import Policy


@dataclass(frozen=True)
class LabelPrinted(EventType):
    """A type with a payload of its own, as a later app would define it."""

    def payload(self, label: str, now: datetime) -> Payload:
        return envelope(self.name, now, {"label": label})

    def sample(self, company_id: int, tracking_number: str, now: datetime) -> Payload:
        return self.payload(f"{company_id}/{tracking_number}", now)


LABEL_PRINTED = LabelPrinted(
    # Higher than the next ids of the service.
    id=60,
    name="label.printed",
    signed=True,
    description="A label was printed.",
    schema=envelope_schema("label.printed", object_schema(label=TEXT)),
)


# A type about tickets, by the recipe: `publish_of_ticket` where the fact is written.
SAMPLED = LabelPrinted(
    id=61,
    name="ticket.sampled",
    signed=True,
    description="A ticket was sampled.",
    schema=envelope_schema("ticket.sampled", object_schema(label=TEXT)),
)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    for each in (LABEL_PRINTED, SAMPLED):
        registry.register(each)
    yield
    for each in (LABEL_PRINTED, SAMPLED):
        registry.unregister(each)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def schema() -> Schema:
    """Generate the schema of the types registered now; the endpoint keeps its first answer."""
    generated: Schema = SchemaGenerator().get_schema(request=None, public=True)
    return generated


def test_is_listed_behind_the_others(api: APIClient) -> None:
    types = api.get("/webhook-types").json()

    assert types[-2] == {"id": 60, "name": "label.printed", "description": "A label was printed."}
    assert [each["id"] for each in types] == [each.id for each in registry]


def test_is_registered_published_and_delivered_with_a_signature(
    api: APIClient,
    company: Company,
    receiver: Receiver,
    loopback: Policy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = api.post("/webhooks", {"type_id": 60, "url": f"{receiver.url}/labels"})
    assert answer.status_code == 200, answer.json()
    webhook = answer.json()["data"]
    assert webhook["type"] == "label.printed"
    body = encode(LABEL_PRINTED.payload("León", timezone.now()))

    publishing.publish([build.news(company, None, type=LABEL_PRINTED.id, body=body)])
    assert deliver(loopback) == 1

    (received,) = receiver.log
    headers = received.headers
    assert (received.path, received.body) == ("/labels", body)
    assert headers["X-Webhook-Event"] == "label.printed"
    assert headers["X-Webhook-Id"] == str(Delivery.objects.get().pk)
    signed = f"{headers['X-Webhook-Timestamp']}.label.printed.".encode() + body
    digest = hmac.new(webhook["secret"].encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-Webhook-Signature"] == f"v1={digest}"
    (row,) = api.get(f"/webhooks/{webhook['id']}/deliveries").json()["data"]
    assert (row["event"], row["state"]) == ("label.printed", "delivered")


def test_one_of_a_ticket_is_later_than_the_event_before_it_and_in_its_order(
    company: Company,
) -> None:
    build.webhook(company, SAMPLED.id)
    now = timezone.now()
    # Set the clock back since the last event.
    ticket = build.ticket(company, last_event_at=now + timedelta(seconds=5))

    with transaction.atomic():
        locked = Ticket.objects.hold(ticket.pk)
        for label in ("first", "second"):
            publish_of_ticket(
                SAMPLED,
                locked,
                now,
                lambda at, number, label=label: SAMPLED.payload(label, at),
            )

    events = Event.objects.order_by("pk")
    times = [json.loads(bytes(event.body))["created_at"] for event in events]
    assert [event.ticket_id for event in events] == [ticket.pk, ticket.pk]
    before = envelope("x", now + timedelta(seconds=5), {})["created_at"]
    assert [before, *times] == sorted({before, *times})


def test_nothing_else_publishes_events_of_tickets() -> None:
    """Require `publish_of_ticket`, which sets the ticket and the time of events."""
    publishes = re.compile(r"\bNews\(|\bpublishing\.publish\(|import .*\bpublish\b")
    files = [
        str(path.relative_to(ROOT))
        for app in ("tickets", "desk", "config")
        for path in sorted((ROOT / app).rglob("*.py"))
        if publishes.search(path.read_text())
    ]

    assert files == ["tickets/changes/news.py"], "publish by tickets.changes.news.publish_of_ticket"


def test_its_sample_is_what_webhooktest_sends(
    api: APIClient, company: Company, receiver: Receiver, loopback: Policy, schema: Schema
) -> None:
    api.post("/webhooks", {"type_id": 60, "url": receiver.url, "auth_token": "tok-1"})

    answer = api.post(
        "/ship/webhooktest/", {"tracking_number": "TEST0000005", "webhook_url": receiver.url}
    )

    assert answer.status_code == 200, answer.json()
    assert answer.json()["data"]["delivered"]
    (received,) = receiver.log
    body = json.loads(received.body)
    assert body["data"] == {"label": f"{company.pk}/TEST0000005"}
    assert received.headers["Authorization"] == "Bearer tok-1"
    assert not [name for name in received.headers if name.startswith("X-")]
    conforms(body, LABEL_PRINTED.schema)


def test_further_type_is_described(schema: Schema) -> None:
    validate_schema(schema)
    described = schema["webhooks"]["label.printed"]["post"]

    assert described["summary"] == "A label was printed."
    assert described["requestBody"]["content"]["application/json"]["schema"] == LABEL_PRINTED.schema
    assert "X-Webhook-Signature" in [header["name"] for header in described["parameters"]]
    examples = [each for each in lists(schema, "examples") if "tracking.simple" in each]
    # A new webhook, a webhook, a delivery, its details and an event that is read.
    assert len(examples) == 5
    assert all("label.printed" in each for each in examples)


def test_the_desk_offers_and_names_it(company: Company) -> None:
    desk = Client()
    desk.force_login(User.objects.create_superuser("root"))
    webhook = build.webhook(company, LABEL_PRINTED.id)
    other = build.webhook(company)
    listing = "/admin/webhooks/webhook/"

    everything = desk.get(listing)
    filtered = desk.get(listing, {"type_id__exact": LABEL_PRINTED.id})
    finder = desk.get("/admin/tickets/ticket/events/")

    assert set(everything.context["cl"].queryset) == {webhook, other}
    assert set(filtered.context["cl"].queryset) == {webhook}
    choices = [
        each["display"]
        for each in filtered.context["cl"].filter_specs[1].choices(filtered.context["cl"])
    ]
    assert choices == ["All", *(each.name for each in registry)]
    assert "label.printed" in filtered.content.decode()
    assert '<option value="60">label.printed</option>' in finder.content.decode()


def lists(part: object, member: str) -> Iterator[list[Any]]:
    """Yield every list that is a member of this name, anywhere in a description."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name == member and isinstance(value, list):
                yield value
            yield from lists(value, member)
    elif isinstance(part, list):
        for each in part:
            yield from lists(each, member)
