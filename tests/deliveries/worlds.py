"""World of an engine test: two companies with two webhooks each, and batches for all four."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, QuerySet

from companies.models import Company
from deliveries import publishing
from deliveries.engine.signing import sign
from deliveries.models import Attempt, Delivery, Event
from deliveries.publishing import News
from shipments.event_types.status import ECOMMERCE_TRACKING, TRACKING_SIMPLE
from tests import builders as build
from tools.faults.receiver import Received, Receiver
from webhooks.models import Webhook

TYPES = (TRACKING_SIMPLE.id, ECOMMERCE_TRACKING.id)


@dataclass(frozen=True)
class World:
    """`webhooks`: Acme's two, then Birch's. Each has a path, a secret and a token of its own."""

    acme: Company
    birch: Company
    webhooks: tuple[Webhook, Webhook, Webhook, Webhook]
    receiver: Receiver

    def publish(self, *shipments: int, steps: Iterable[int] = (0,)) -> None:
        """Publish a mixed batch: an event for each webhook, for each shipment, for each step."""
        publishing.publish(
            [
                news(webhook, shipment, step)
                for step in steps
                for shipment in shipments
                for webhook in self.webhooks
            ]
        )

    def log(self, webhook: Webhook) -> list[Received]:
        """Return the requests that this webhook's receiver got."""
        return [each for each in self.receiver.log if each.path == path(webhook)]

    def deliveries(self, webhook: Webhook) -> QuerySet[Delivery]:
        return Delivery.objects.filter(webhook=webhook).order_by("event_id")


def make_world(receiver: Receiver) -> World:
    acme, birch = build.company("Acme of the world"), build.company("Birch of the world")
    webhooks = [
        build.webhook(
            company,
            type_id,
            url=f"{receiver.url}/{company.pk}/{type_id}",
            secret=f"{company.pk:060x}{type_id:04x}",
            auth_token=f"token-{company.pk}-{type_id}",
        )
        for company in (acme, birch)
        for type_id in TYPES
    ]
    one, two, three, four = webhooks
    return World(acme, birch, (one, two, three, four), receiver)


def news(webhook: Webhook, shipment: int, step: int) -> News:
    """Build an event whose body names its recipient."""
    body = {
        "company": webhook.company_id,
        "type": webhook.type_id,
        "shipment": shipment,
        "step": step,
    }
    return build.news(
        webhook.company, shipment, type=webhook.type_id, body=json.dumps(body).encode()
    )


def path(webhook: Webhook) -> str:
    return f"/{webhook.company_id}/{webhook.type_id}"


def steps(received: Iterable[Received]) -> dict[int, list[int]]:
    """Return the steps of each shipment in order of arrival, without repeats."""
    steps_by_shipment: dict[int, list[int]] = {}
    for each in received:
        fields = json.loads(each.body)
        steps = steps_by_shipment.setdefault(fields["shipment"], [])
        if fields["step"] not in steps[-1:]:
            steps.append(fields["step"])
    return steps_by_shipment


def check_rows() -> None:
    """Check that no delivery has another company's event, or a type its webhook is not for."""
    wrong = Delivery.objects.exclude(
        event__company=F("webhook__company"), event__type_id=F("webhook__type_id")
    )
    assert list(wrong) == []


def check_requests(log: Iterable[Received]) -> None:
    """Check that each request has the body of a delivery of the webhook at whose URL it came."""
    for received in log:
        if "X-Webhook-Id" not in received.headers or "X-Webhook-Test" in received.headers:
            continue
        # Load the delivery only: a test may have left the webhook without a key for its secret.
        of_delivery = Delivery.objects.filter(pk=received.headers["X-Webhook-Id"])
        url, event_id = of_delivery.values_list("webhook__url", "event_id").get()
        assert url.partition("://")[2].endswith(received.path.rstrip("/"))
        assert bytes(Event.objects.get(pk=event_id).body) == received.body


def check_world(world: World) -> None:
    """Check that no receiver saw another's event, and each request used its webhook's secrets."""
    webhooks = {path(each): each for each in Webhook.objects.filter(pk__in=ids(world))}
    for received in world.receiver.log:
        webhook, fields = webhooks[received.path], json.loads(received.body)
        assert (fields["company"], fields["type"]) == (webhook.company_id, webhook.type_id)
        headers = received.headers
        assert headers["Authorization"] == f"Bearer {webhook.auth_token}"
        assert headers["X-Webhook-Event"] == webhook.type_name
        assert headers["X-Webhook-Signature"] in {
            signature(secret, webhook, received)
            for secret in (webhook.secret, webhook.next_secret)
            if secret
        }
    theirs = Attempt.objects.filter(url__in=[webhook.url for webhook in webhooks.values()])
    assert list(theirs.exclude(url=F("delivery__webhook__url"))) == []


def signature(secret: str, webhook: Webhook, received: Received) -> str:
    timestamp = int(received.headers["X-Webhook-Timestamp"])
    return sign(secret, timestamp, webhook.type_name, received.body)


def ids(world: World) -> list[int]:
    return [webhook.pk for webhook in world.webhooks]
