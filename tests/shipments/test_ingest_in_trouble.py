"""Concurrent runs, a database that fails, and a person who presses Ctrl-C."""

import io
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import pytest
from django.db import connection, connections

from companies.models import Company
from deliveries.models import Event
from shipments.feed import ingesting
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tests import builders as build
from tests.shipments import feeding
from tests.shipments.feeding import Fed, counts, incidence, shipment, surcharge, tracking

Feed = Callable[..., Fed]


def at_once(*files: Path) -> list[Fed]:
    barrier = Barrier(len(files))

    def run(file: Path) -> Fed:
        try:
            barrier.wait()
            return feeding.ingest(file)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(files)) as threads:
        return list(threads.map(run, files))


@pytest.mark.usefixtures("rows_to_keep")
def test_two_runs_of_one_file_at_once_are_as_good_as_one(tmp_path: Path) -> None:
    company = build.company()
    build.webhook(company)
    ids = range(1, 301)
    file = feeding.write(
        tmp_path / "feed",
        *[shipment(each, company.pk) for each in ids],
        *[tracking(each, "Shipped") for each in ids],
        *[surcharge(each, each) for each in ids],
        *[incidence(each, each) for each in ids],
        *[tracking(each, "Delivered") for each in ids],
    )

    fed = at_once(file, file, file)

    assert [each.failure for each in fed] == [None] * 3
    assert sum(each.counts["changed"] for each in fed) == 1500
    assert sum(each.counts["events"] for each in fed) == 900
    tables = (Shipment, TrackingUpdate, Surcharge, Incidence)
    assert [table.objects.count() for table in tables] == [300, 600, 300, 300]
    assert Event.objects.count() == 600
    assert set(Shipment.objects.values_list("status", flat=True)) == {"Delivered"}


@pytest.mark.usefixtures("rows_to_keep")
def test_runs_that_meet_the_same_rows_in_opposite_order_do_not_harm_each_other(
    tmp_path: Path,
) -> None:
    company = build.company()
    ids = list(range(1, 201))
    forth = [shipment(each, company.pk) for each in ids] + [surcharge(each, each) for each in ids]
    back = [shipment(each, company.pk) for each in reversed(ids)]
    back += [surcharge(each, each) for each in reversed(ids)]

    fed = at_once(feeding.write(tmp_path / "1", *forth), feeding.write(tmp_path / "2", *back))

    assert [each.failure for each in fed] == [None, None]
    assert sum(each.counts["changed"] for each in fed) == 400


@pytest.mark.parametrize("bad", [{1}, {3}, {2, 3}, {1, 2, 3, 4}])
def test_a_row_that_the_database_refuses_is_found_among_its_neighbours(
    company: Company, feed: Feed, bad: set[int]
) -> None:
    feed(shipment(5, company.pk))
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(
            "ALTER TABLE shipments_trackingupdate ADD CONSTRAINT anywhere_but CHECK"
            " (location <> 'Lima')"
        )

    fed = feed(
        *[tracking(5, "Lost", location="Lima" if n in bad else f"{n}") for n in (1, 2, 3, 4)]
    )

    assert [reason.partition(": ")[0] for reason in fed.reasons] == [f"line {n}" for n in bad]
    assert all('violates check constraint "anywhere_but"' in reason for reason in fed.reasons)
    good = 4 - len(bad)
    assert fed.counts == counts(read=4, changed=good, events=min(good, 1), bad=len(bad))
    assert TrackingUpdate.objects.count() == good


@contextmanager
def failing(times: int, trouble: str) -> Iterator[None]:
    """Make the first `times` writes of tracking updates fail in the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            CREATE SEQUENCE troubles;
            CREATE FUNCTION make_trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
              IF nextval('troubles') <= {times} THEN {trouble}; END IF;
              RETURN NULL;
            END $$;
            CREATE TRIGGER make_trouble BEFORE INSERT ON shipments_trackingupdate
              EXECUTE FUNCTION make_trouble();
            """
        )
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION make_trouble CASCADE; DROP SEQUENCE troubles")


DEADLOCK = "RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'"
CUT_OFF = "PERFORM pg_terminate_backend(pg_backend_pid())"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingesting, "RETRY_SECONDS", (0.01, 0.01))


@pytest.mark.usefixtures("rows_to_keep", "impatient")
@pytest.mark.parametrize("trouble", [DEADLOCK, CUT_OFF])
def test_tries_again_after_a_deadlock_or_a_lost_connection(feed: Feed, trouble: str) -> None:
    company = build.company()
    feed(shipment(5, company.pk))

    with failing(2, trouble):
        fed = feed(tracking(5, "Lost"))

    assert fed == (counts(read=1, changed=1, events=1), [], None)
    assert TrackingUpdate.objects.count() == 1


@pytest.mark.usefixtures("rows_to_keep", "impatient")
def test_says_how_far_it_got_when_the_database_keeps_failing(feed: Feed) -> None:
    company = build.company()
    lines = [shipment(each, company.pk) for each in range(1, 2000)]

    with failing(3, DEADLOCK):
        fed = feed(*lines, tracking(5, "Lost"))

    assert fed.failure.returncode == 1
    assert str(fed.failure) == (
        f"Stopped after line {fed.counts['read']}. All lines up to it are recorded. To continue, "
        "run ingest again with the same input: recorded lines change nothing. "
        "The database: deadlock detected "
        "CONTEXT: PL/pgSQL function make_trouble() line 2 at RAISE"
    )
    assert fed.counts["changed"] == Shipment.objects.count() == fed.counts["read"]
    assert 1000 < fed.counts["read"] < 2000
    assert not TrackingUpdate.objects.exists()


def stdin(monkeypatch: pytest.MonkeyPatch, stream: io.RawIOBase | io.BytesIO) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))


def test_a_dash_is_standard_input(
    company: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = feeding.write(tmp_path / "x", shipment(5, company.pk)).read_bytes()
    stdin(monkeypatch, io.BytesIO(content))

    assert feeding.ingest("-") == (counts(read=1, changed=1), [], None)
    assert Shipment.objects.filter(pk=5).exists()


def test_says_how_far_it_got_when_it_is_interrupted(
    company: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = feeding.write(tmp_path / "x", b"", shipment(5, company.pk)).read_bytes()

    class Interrupted(io.RawIOBase):
        parts = iter([content])

        def read1(self, size: int) -> bytes:
            part = next(self.parts, None)
            if part is None:
                raise KeyboardInterrupt
            return part

    stdin(monkeypatch, Interrupted())
    fed = feeding.ingest("-")

    assert fed.counts == counts(read=1, changed=1)
    assert str(fed.failure).startswith("Stopped after line 2. All lines up to it are recorded.")
    assert fed.failure.returncode == 130
    assert Shipment.objects.filter(pk=5).exists()


@pytest.mark.parametrize(
    ("file", "reason"),
    [("missing.jsonl", "No such file or directory"), ("", "Is a directory")],
)
def test_a_file_that_cannot_be_read_is_one_clear_line(
    db: None, tmp_path: Path, file: str, reason: str
) -> None:
    fed = feeding.ingest(tmp_path / file)

    assert str(fed.failure) == f"{tmp_path / file}: {reason}"
    assert fed.counts == {}


def test_outlasts_a_restart_of_the_database() -> None:
    assert len(ingesting.RETRY_SECONDS) == 5
    assert 15 < sum(ingesting.RETRY_SECONDS) < 20
