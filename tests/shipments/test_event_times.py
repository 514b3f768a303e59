"""Times of events: the fact's own time, and later than the shipment's previous event (N2)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from companies.models import Company
from deliveries.models import Event
from shipments.feed import parsing, recording
from tests import builders as build
from webhooks.envelope import event_time

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
CHARGE = {
    "kind": "surcharge",
    "shipment_id": 4101,
    "surcharge_type": "Overweight",
    "amount": 1,
    "currency": "MXN",
    "transaction_type": "surcharge",
}


@pytest.fixture
def listening(company: Company) -> Company:
    for type_id in (3, 4, 5):
        build.webhook(company, type_id=type_id)
    build.shipment(company, order={"shop_id": 1})
    return company


def track(status: str, at: datetime | None = None, **fields: Any) -> dict[str, Any]:
    line = {"kind": "tracking", "shipment_id": 4101, "status": status, **fields}
    return line | ({"occurred_at": at.isoformat()} if at else {})


def feed(*lines: dict[str, Any]) -> None:
    """Feed the lines in one batch."""
    outcome = recording.record_facts([parsing.parse(line) for line in lines])
    assert outcome.bad == []


def times(type_id: int | None = None) -> list[datetime]:
    events = Event.objects.order_by("pk")
    if type_id:
        events = events.filter(type_id=type_id)
    bodies = [json.loads(bytes(event.body)) for event in events]
    return [datetime.fromisoformat(body["created_at"]) for body in bodies]


def test_carries_the_time_of_the_fact(listening: Company) -> None:
    feed(track("Shipped", NOON), track("Delivered", NOON + timedelta(hours=3)))
    feed({**CHARGE, "surcharge_id": 9, "occurred_at": (NOON + timedelta(days=1)).isoformat()})

    assert times(3) == times(4) == [NOON, NOON + timedelta(hours=3)]
    assert times(5) == [NOON + timedelta(days=1)]


def test_is_now_where_the_feed_has_no_time_and_never_later(listening: Company) -> None:
    before = timezone.now() - timedelta(milliseconds=1)

    feed(track("Shipped"))
    feed(track("Delivered", timezone.now() + timedelta(hours=5)))

    assert all(before <= time <= timezone.now() for time in times(3))
    assert len(times(3)) == 2


def test_grows_with_the_order_of_the_lines_over_batches_and_kinds(listening: Company) -> None:
    hour = timedelta(hours=1)
    feed(track("Shipped", NOON), track("Delayed", NOON), track("Lost", NOON - hour))
    feed({**CHARGE, "surcharge_id": 9, "occurred_at": (NOON - 2 * hour).isoformat()})
    feed(track("Damaged", NOON - 3 * hour))
    feed(track("Delivered", NOON + hour))

    step = timedelta(milliseconds=1)
    assert times(3) == [NOON, NOON + step, NOON + 2 * step, NOON + 4 * step, NOON + hour]
    assert times(5) == [NOON + 3 * step]


def test_is_each_shipments_own(listening: Company) -> None:
    build.shipment(listening, 4102)
    feed(track("Shipped", NOON), track("Shipped", NOON, shipment_id=4102))

    assert times(3) == [NOON, NOON]


def test_the_log_and_retention_go_by_when_it_was_stored(listening: Company) -> None:
    feed(track("Shipped", NOON))

    assert {event.created_at > NOON + timedelta(days=1) for event in Event.objects.all()} == {True}


@pytest.mark.parametrize(
    ("occurred_at", "last", "expected"),
    [
        (NOON - timedelta(microseconds=1), None, NOON - timedelta(milliseconds=1)),
        (NOON, NOON, NOON + timedelta(milliseconds=1)),
        (NOON, NOON + timedelta(days=9), NOON + timedelta(days=9, milliseconds=1)),
        (NOON, NOON - timedelta(milliseconds=1), NOON),
        (NOON + timedelta(days=1), None, NOON + timedelta(hours=2)),
    ],
)
def test_is_in_whole_milliseconds(
    occurred_at: datetime, last: datetime | None, expected: datetime
) -> None:
    assert event_time(occurred_at, NOON + timedelta(hours=2), last) == expected
