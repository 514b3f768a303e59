"""Memory, and statements per batch, must not grow with the file."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companies.models import Company
from shipments.feed import parsing, recording
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tests import builders as build
from tests.shipments import feeding
from tests.shipments.feeding import (
    ORDER,
    Fed,
    Line,
    counts,
    incidence,
    shipment,
    surcharge,
    tracking,
)
from webhooks.event_types import registry


def some_of_everything(company: Company, shipments: int) -> list[Line]:
    ids = range(1, shipments + 1)
    return [
        *[shipment(each, company.pk, order=ORDER) for each in ids],
        *[tracking(each, "Shipped") for each in ids],
        *[tracking(each, "Delivered") for each in ids],
        *[surcharge(each, each) for each in ids],
        *[incidence(each, each) for each in ids],
    ]


def statements(lines: list[Line]) -> list[str]:
    facts = [parsing.parse(line) for line in lines]
    with CaptureQueriesContext(connection) as captured:
        outcome = recording.record_facts(facts)
    assert not outcome.bad
    return [query["sql"] for query in captured]


def test_a_batch_takes_as_many_statements_with_ten_times_the_lines(company: Company) -> None:
    for event_type in registry:
        build.webhook(company, event_type.id)
    few = some_of_everything(company, 8)
    many = some_of_everything(company, 80)

    first = statements(few)
    assert len(first) <= 16
    assert len(statements(many)) <= len(first) + 2
    assert len(statements(many)) <= 10
    assert (Shipment.objects.count(), TrackingUpdate.objects.count()) == (80, 160)
    assert (Surcharge.objects.count(), Incidence.objects.count()) == (80, 80)


def test_a_batch_about_one_thing_asks_about_nothing_else(company: Company) -> None:
    statements([shipment(5, company.pk)])

    # Savepoint and its release, lock and fetch, companies, listeners, known updates, two writes.
    assert len(statements([tracking(5, "Lost")])) == 8


@pytest.mark.parametrize(("lines", "padding"), [(2000, 0), (800, 10_000)])
def test_memory_does_not_grow_with_the_file(
    company: Company, tmp_path: Path, feed: Callable[..., Fed], lines: int, padding: int
) -> None:
    build.webhook(company)
    feed(*[shipment(each, company.pk) for each in range(1, 51)])
    with (tmp_path / "large").open("wb") as large:
        for place in range(lines):
            line = tracking(place % 50 + 1, ("Shipped", "Delayed")[place % 2], location=f"{place}")
            large.write(feeding.encoded(line) + b" " * padding + b"\n")

    tracemalloc.start()
    fed = feeding.ingest(tmp_path / "large")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert fed.counts["read"] == fed.counts["changed"] == lines
    assert TrackingUpdate.objects.count() == lines
    assert fed.counts["bad"] == 0
    assert peak < 3_000_000, peak


def test_does_not_notice_the_end_of_a_batch(company: Company, feed: Callable[..., Fed]) -> None:
    lines = [shipment(5, company.pk)]
    lines += [tracking(5, ("Shipped", "Delayed")[n % 2], location=str(n)) for n in range(1200)]
    lines[700] = {"kind": "nonsense"}

    fed = feed(*lines)

    assert [reason.split(":")[0] for reason in fed.reasons] == ["line 701"]
    # The bad line stands between two equal statuses.
    assert fed.counts == counts(read=1201, changed=1200, events=1198, bad=1)
