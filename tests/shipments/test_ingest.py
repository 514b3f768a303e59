import io
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from companies.models import Company
from deliveries.models import Delivery, Event
from shipments.event_types.status import ON_SHIPMENT_STATUS_UPDATE, TRACKING_SIMPLE
from shipments.event_types.surcharge import SURCHARGE
from shipments.feed import news
from shipments.models import Shipment, Surcharge, TrackingUpdate
from tests import builders as build
from tests.shipments.feeding import ORDER, Fed, counts, incidence, shipment, surcharge, tracking
from webhooks.event_types import registry

Feed = Callable[..., Fed]


def bodies() -> list[str]:
    return [bytes(event.body).decode() for event in Event.objects.order_by("pk")]


def test_a_new_shipment_starts_as_created_without_an_event(company: Company, feed: Feed) -> None:
    build.webhook(company)

    fed = feed(shipment(5, company.pk, carrier_id=9, order=ORDER))

    assert fed == (counts(read=1, changed=1), [], None)
    stored = Shipment.objects.get(pk=5)
    assert (stored.company, stored.tracking_number, stored.carrier_name) == (
        company,
        "TEST0000005",
        "acme",
    )
    assert (stored.carrier_id, stored.order, stored.status) == (9, ORDER, "Created")
    assert (stored.shipped_at, stored.delivered_at) == (None, None)
    assert not Event.objects.exists()


def test_fires_an_event_when_the_status_changes_and_only_then(company: Company, feed: Feed) -> None:
    build.webhook(company)

    fed = feed(
        shipment(5, company.pk),
        tracking(5, "Created", location="Lima"),
        tracking(5, "Shipped"),
        tracking(5, "shipped", location="León"),
        tracking(5, "Delivered"),
    )

    assert fed.counts == counts(read=5, changed=5, events=2)
    assert ['"status":"shipped"' in body for body in bodies()] == [True, False]
    assert ['"status":"delivered"' in body for body in bodies()] == [False, True]
    assert Shipment.objects.get(pk=5).status == "Delivered"
    assert TrackingUpdate.objects.filter(shipment_id=5).count() == 4


def test_the_same_file_twice_changes_nothing(company: Company, feed: Feed) -> None:
    build.webhook(company)
    lines = [
        shipment(5, company.pk),
        shipment(5, company.pk, carrier_name="other"),
        tracking(5, "Shipped"),
        tracking(5, "Delivered", occurred_at="2026-01-02T00:00:00Z"),
        tracking(5, "Shipped", location="Lima"),
        surcharge(1, 5),
        surcharge(1, 5, transaction_type="refund"),
        incidence(8, 5, incidence_kind="lost"),
        incidence(8, 5, open=False),
    ]

    first = feed(*lines)
    rows = list(Shipment.objects.values())
    second = feed(*lines)

    assert first.counts == counts(read=9, changed=9, events=5)
    assert second.counts == counts(read=9, changed=0, known=9)
    assert list(Shipment.objects.values()) == rows
    assert len(bodies()) == 3


def test_a_line_twice_in_one_file_counts_once(company: Company, feed: Feed) -> None:
    fed = feed(
        *[shipment(5, company.pk)] * 2,
        *[tracking(5, "Lost")] * 2,
        *[surcharge(1, 5)] * 2,
        *[incidence(8, 5)] * 2,
    )

    assert fed.counts == counts(read=8, changed=4, events=2, known=4)


def test_an_older_file_fed_again_does_not_take_a_shipment_back(
    company: Company, feed: Feed
) -> None:
    feed(shipment(5, company.pk, carrier_name="old"))
    feed(shipment(5, company.pk, carrier_name="new"))

    fed = feed(shipment(5, company.pk, carrier_name="old"))

    assert fed.counts == counts(read=1, changed=0, known=1)
    assert Shipment.objects.get(pk=5).carrier_name == "new"


def test_a_line_that_says_when_can_say_the_same_again(company: Company, feed: Feed) -> None:
    feed(shipment(5, company.pk, carrier_name="old"))
    feed(shipment(5, company.pk, carrier_name="new"))

    fed = feed(shipment(5, company.pk, carrier_name="old", occurred_at="2026-01-02T00:00:00Z"))

    assert fed.counts == counts(read=1, changed=1)
    assert Shipment.objects.get(pk=5).carrier_name == "old"


def test_a_shipment_line_changes_what_it_says_and_leaves_the_rest(
    company: Company, feed: Feed
) -> None:
    feed(shipment(5, company.pk, carrier_id=9, order=ORDER), tracking(5, "Shipped"))

    fed = feed(shipment(5, company.pk, tracking_number="NEW1"))

    assert fed.counts == counts(read=1, changed=1)
    stored = Shipment.objects.get(pk=5)
    assert (stored.tracking_number, stored.carrier_id, stored.order) == ("NEW1", 9, ORDER)
    assert stored.status == "Shipped"


def test_feed_order_decides_not_the_time_of_the_scan(company: Company, feed: Feed) -> None:
    feed(
        shipment(5, company.pk),
        tracking(5, "Delivered", occurred_at="2026-01-05T00:00:00Z"),
        tracking(5, "Returned", occurred_at="2026-01-01T00:00:00Z"),
    )

    assert Shipment.objects.get(pk=5).status == "Returned"


@pytest.mark.parametrize("status", ["Shipped", "Picked Up", "PICKED UP"])
def test_keeps_when_it_left_first_and_when_it_was_delivered(
    company: Company, feed: Feed, status: str
) -> None:
    feed(
        shipment(5, company.pk),
        tracking(5, status, occurred_at="2026-01-01T10:00:00-06:00"),
        tracking(5, "Delivered", occurred_at="2026-01-03T10:00:00"),
        tracking(5, status, occurred_at="2026-01-04T10:00:00Z"),
    )

    stored = Shipment.objects.get(pk=5)
    assert stored.shipped_at == datetime(2026, 1, 1, 16, tzinfo=UTC)
    assert stored.delivered_at == datetime(2026, 1, 3, 10, tzinfo=UTC)


def test_keeps_a_status_that_the_table_lacks_as_it_came(company: Company, feed: Feed) -> None:
    build.webhook(company, ON_SHIPMENT_STATUS_UPDATE.id)
    build.webhook(company, TRACKING_SIMPLE.id)

    fed = feed(shipment(5, company.pk), tracking(5, "held at Customs"))

    assert fed.counts == counts(read=2, changed=2, events=1)
    assert Shipment.objects.get(pk=5).status == "held at Customs"
    assert '"status":"Held At Customs"' in bodies()[0]
    assert '"status":"held at customs"' in bodies()[1]


def test_tells_each_type_and_the_ecommerce_ones_only_with_an_order(
    company: Company, birch: Company, feed: Feed
) -> None:
    for event_type in registry:
        build.webhook(company, event_type.id)
    build.webhook(birch)

    feed(
        shipment(5, company.pk),
        shipment(6, company.pk, order=ORDER),
        tracking(5, "Shipped"),
        tracking(6, "Shipped"),
        surcharge(1, 5),
    )

    rows = list(Event.objects.order_by("pk").values_list("shipment_id", "type_id", "company_id"))
    acme = company.pk
    assert rows == [(5, 1, acme), (5, 3, acme)] + [(6, t, acme) for t in (1, 2, 3, 4)] + [
        (5, 5, acme)
    ]
    assert Delivery.objects.count() == 7


def test_a_further_type_reaches_every_shipment_unless_it_needs_an_order(
    company: Company, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = replace(TRACKING_SIMPLE, id=6, name="further")
    of_orders = replace(TRACKING_SIMPLE, id=7, name="further.order", needs_order=True)
    monkeypatch.setattr(news, "STATUS_EVENTS", (plain, of_orders))
    build.webhook(company, plain.id)
    build.webhook(company, of_orders.id)

    feed(
        shipment(5, company.pk),
        shipment(6, company.pk, order=ORDER),
        tracking(5, "Shipped"),
        tracking(6, "Shipped"),
    )

    published = list(Event.objects.order_by("pk").values_list("shipment_id", "type_id"))
    assert published == [(5, 6), (6, 6), (6, 7)]


def test_events_are_counted_without_listeners(company: Company, feed: Feed) -> None:
    fed = feed(shipment(5, company.pk, order=ORDER), tracking(5, "Shipped"), surcharge(1, 5))

    assert fed.counts == counts(read=3, changed=3, events=2)
    assert not Event.objects.exists()


def test_an_event_tells_the_shipment_as_it_was_at_its_line(company: Company, feed: Feed) -> None:
    build.webhook(company, ON_SHIPMENT_STATUS_UPDATE.id)

    feed(
        shipment(5, company.pk, tracking_number="OLD1"),
        tracking(5, "Shipped"),
        shipment(5, company.pk, tracking_number="NEW1"),
        tracking(5, "Lost"),
    )

    assert ["OLD1" in body for body in bodies()] == [True, False]
    assert ["NEW1" in body for body in bodies()] == [False, True]
    numbers = Event.objects.order_by("pk").values_list("tracking_number", flat=True)
    assert list(numbers) == ["OLD1", "NEW1"]


def test_a_refund_shares_its_charges_id(company: Company, feed: Feed) -> None:
    build.webhook(company, SURCHARGE.id)

    fed = feed(shipment(5, company.pk), surcharge(1, 5), surcharge(1, 5, transaction_type="refund"))

    assert fed.counts == counts(read=3, changed=3, events=2)
    transactions = Surcharge.objects.order_by("pk").values_list("surcharge_id", "transaction_type")
    assert list(transactions) == [(1, "surcharge"), (1, "refund")]
    assert set(Surcharge.objects.values_list("amount", flat=True)) == {Decimal("12.5")}
    assert '"transaction_type":"refund"' in bodies()[1]


def test_nothing_in_the_file_is_fine(db: None, feed: Feed) -> None:
    assert feed() == (counts(read=0, changed=0), [], None)
    assert feed(b"", b"  ", b"\r") == (counts(read=0, changed=0), [], None)


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("kind", "has_progress"), [(Screen, True), (io.StringIO, False)])
def test_shows_its_progress_on_a_terminal_only(
    company: Company,
    feed: Feed,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[io.StringIO],
    has_progress: bool,
) -> None:
    screen = kind()
    monkeypatch.setattr(sys, "stderr", screen)

    fed = feed(shipment(5, company.pk), b"{")

    assert ("100%" in screen.getvalue()) is has_progress
    assert len(fed.reasons) == 1
