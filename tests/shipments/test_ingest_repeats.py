"""Repeats and news: lines that look alike, old files, many lines."""

from collections.abc import Callable
from datetime import UTC, datetime

from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from companies.models import Company
from deliveries.models import Delivery, Event
from shipments.event_types.status import ON_SHIPMENT_STATUS_UPDATE, TRACKING_SIMPLE
from shipments.models import Shipment, TrackingUpdate
from tests import builders as build
from tests.shipments.feeding import Fed, counts, incidence, shipment, surcharge, tracking

Feed = Callable[..., Fed]


def test_a_status_that_comes_back_later_is_news(company: Company, feed: Feed) -> None:
    build.webhook(company)
    feed(shipment(5, company.pk))
    history = [
        tracking(5, status, occurred_at=f"2026-01-0{day}T10:00:00Z")
        for day, status in enumerate(["Shipped", "Delayed", "Shipped"], start=1)
    ]

    fed = feed(*history)

    assert fed.counts == counts(read=3, changed=3, events=3)
    assert TrackingUpdate.objects.count() == Event.objects.count() == 3
    assert Shipment.objects.get().status == "Shipped"
    assert feed(*history).counts == counts(read=3, changed=0, known=3)


def test_a_hundred_lines_of_a_shipment_are_remembered(company: Company, feed: Feed) -> None:
    """Remember the newest hundred: one of them fed again does not take the shipment back."""
    lines = [shipment(5, company.pk, carrier_name=f"carrier {n}") for n in range(150)]
    feed(*lines)

    assert feed(*lines[50:]).counts == counts(read=100, changed=0, known=100)

    assert Shipment.objects.get().carrier_name == "carrier 149"
    assert feed(lines[49]).counts == counts(read=1, changed=1)


def test_a_parcel_that_is_delivered_twice_was_delivered_the_second_time(
    company: Company, feed: Feed
) -> None:
    feed(
        shipment(5, company.pk),
        tracking(5, "Delivered", occurred_at="2026-01-03T10:00:00Z"),
        tracking(5, "Returned", occurred_at="2026-01-04T10:00:00Z"),
        tracking(5, "Delivered", occurred_at="2026-01-09T10:00:00Z"),
    )

    assert Shipment.objects.get().delivered_at == datetime(2026, 1, 9, 10, tzinfo=UTC)


def test_every_event_of_a_full_batch_is_published(
    company: Company, birch: Company, feed: Feed
) -> None:
    """Publish more events than lines: two types for each change, mixed between companies."""
    ids = range(1, 401)
    for each in (company, birch):
        build.webhook(each, ON_SHIPMENT_STATUS_UPDATE.id)
        build.webhook(each, TRACKING_SIMPLE.id)
    feed(*[shipment(each, (company, birch)[each % 2].pk) for each in ids])

    feed(*[tracking(each, "Shipped") for each in ids])

    published = set(Event.objects.values_list("company_id", "shipment_id", "type_id"))
    assert published == {
        ((company, birch)[each % 2].pk, each, type_id) for each in ids for type_id in (1, 3)
    }
    assert Delivery.objects.count() == 800
    assert not Delivery.objects.exclude(webhook__company=F("event__company")).exists()


def test_a_status_in_another_case_is_no_news(company: Company, feed: Feed) -> None:
    """Ignore case also if the table lacks the status, which is stored unchanged."""
    feed(shipment(5, company.pk), tracking(5, "held at Customs"))

    fed = feed(tracking(5, "HELD at customs"))

    assert fed.counts == counts(read=1, changed=1, events=0)


def test_shipments_are_locked_in_the_order_of_their_ids(company: Company, feed: Feed) -> None:
    """Lock in one order, so that two batches never wait for each other in a circle."""
    with CaptureQueriesContext(connection) as queries:
        feed(tracking(5, "Shipped"))

    (lock,) = [each["sql"] for each in queries if "FOR NO KEY UPDATE" in each["sql"]]
    assert lock.endswith('ORDER BY "shipments_shipment"."id" ASC FOR NO KEY UPDATE')


def test_counts_the_lines_that_it_knew_already(company: Company, feed: Feed) -> None:
    lines = [
        shipment(5, company.pk),
        surcharge(1, 5),
        incidence(8, 5),
        tracking(5, "Out for Delivery"),
        tracking(5, "1 Delivery Attempt"),
        # Without a time it cannot be told from the first one.
        tracking(5, "Out for Delivery"),
    ]

    assert feed(*lines).counts == counts(read=6, changed=5, events=3, known=1)
    assert feed(*lines, b"{").counts == counts(read=7, changed=0, known=6, bad=1)
