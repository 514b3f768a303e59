"""Event ids and sequence numbers, which are the same for every receiver (decision N3)."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from companies.models import Company
from deliveries import publishing
from deliveries.models import Delivery, Event
from tests import builders as build
from tests.sending import deliver, make_due
from tools.faults.receiver import Answer, Received, Receiver
from webhooks.targets import Policy

ORDER = {"shop_id": 7, "order_identifier": "5", "order_number": "5", "order_name": "#5"}
OLD_INSERT = """
INSERT INTO deliveries_event (company_id, type_id, shipment_id, tracking_number, body, created_at)
SELECT company_id, type_id, shipment_id, tracking_number, body, created_at FROM deliveries_event
RETURNING id
"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def fact_of(received: Received) -> tuple[UUID, int]:
    headers = received.headers
    return UUID(headers["X-Webhook-Event-Id"]), int(headers["X-Webhook-Sequence"])


def by_path(receiver: Receiver) -> dict[str, list[tuple[UUID, int]]]:
    facts: dict[str, list[tuple[UUID, int]]] = {}
    for received in receiver.log:
        facts.setdefault(received.path, []).append(fact_of(received))
    return facts


def track(shipment_id: int, status: str, **fields: Any) -> None:
    build.fact("tracking", shipment_id=shipment_id, status=status, **fields)


def test_one_scan_is_one_event_to_every_webhook_and_type(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    for path, type_id in [("/a", 3), ("/b", 3), ("/c", 4), ("/d", 5)]:
        build.webhook(company, type_id=type_id, url=receiver.url + path)
    build.shipment(company, order=ORDER)
    track(4101, "Picked Up")
    charge = {"surcharge_type": "Overweight", "amount": 1, "currency": "MXN"}
    build.fact(
        "surcharge", surcharge_id=1, shipment_id=4101, transaction_type="surcharge", **charge
    )
    track(4101, "Delivered")

    deliver(loopback)

    facts = by_path(receiver)
    assert facts["/a"] == facts["/b"] == facts["/c"]
    (picked_up, delivered), (charged,) = facts["/a"], facts["/d"]
    assert len({picked_up[0], charged[0], delivered[0]}) == 3
    assert picked_up[1] < charged[1] < delivered[1]
    assert len({received.headers["X-Webhook-Id"] for received in receiver.log}) == 7


def test_the_sequence_grows_with_every_event_of_a_batch(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company, n % 3) for n in range(30)])
    publishing.publish([build.news(company, n % 3) for n in range(30)])

    deliver(loopback)

    order = dict(Delivery.objects.values_list("pk", "event_id"))
    sequences: dict[int, list[int]] = {}
    for received in sorted(receiver.log, key=lambda r: order[UUID(r.headers["X-Webhook-Id"])]):
        shipment = Delivery.objects.get(pk=received.headers["X-Webhook-Id"]).subject_id
        sequences.setdefault(shipment, []).append(fact_of(received)[1])
    assert [len(set(each)) for each in sequences.values()] == [20, 20, 20]
    assert all(each == sorted(each) for each in sequences.values())


def test_a_fact_has_the_place_of_its_first_event(company: Company) -> None:
    for type_id in (1, 3, 5):
        build.webhook(company, type_id=type_id)
    first, second = uuid4(), uuid4()

    publishing.publish(
        [
            build.news(company, type=type_id, fact_id=fact)
            for fact, type_id in [(first, 1), (first, 3), (second, 2), (second, 3), (second, 5)]
        ]
    )

    one, two, three, four = Event.objects.order_by("pk")
    assert [each.fact_id for each in (one, two, three, four)] == [first, first, second, second]
    assert [each.sequence for each in (one, two, three, four)] == [
        one.pk,
        one.pk,
        three.pk,
        three.pk,
    ]


def test_every_attempt_tells_the_same(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])
    receiver.answer = lambda _: Answer(500 if len(receiver.log) < 3 else 200)

    for _ in range(3):
        deliver(loopback)
        make_due()

    assert len(receiver.log) == 3
    assert len({fact_of(received) for received in receiver.log}) == 1


def test_event_of_an_earlier_version_keeps_its_number(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    """Take rows without facts: an earlier version writes them while both run."""
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])
    with connection.cursor() as cursor:
        cursor.execute(OLD_INSERT)
        (old,) = cursor.fetchone()
    Delivery.objects.update(event_id=old)
    publishing.publish([build.news(company)])

    deliver(loopback)

    (earlier, sequence), (_, later) = [fact_of(received) for received in receiver.log]
    assert (earlier, sequence) == (UUID(int=old), old)
    assert later > sequence
