"""A transaction that was open for long leaves large indexes behind, which are rebuilt."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from companies.models import Company
from deliveries import jobs, publishing
from deliveries.models import OPEN, Delivery
from deliveries.upkeep import indexes, rest_rows
from tests import builders as build
from tests.databases import Database

A_BATCH = 1000
ORDER = "delivery_order"


@pytest.fixture
def beside(transactional_db: None) -> Iterator[psycopg.Connection]:
    """Yield a connection of somebody else."""
    with Database(connection.settings_dict["NAME"]).link() as somebody:
        yield somebody


@pytest.fixture
def bloated(beside: psycopg.Connection, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deliver while a transaction is open, then leave a few deliveries in the queue."""
    monkeypatch.setattr(indexes, "LEAST_BYTES", 2**18)
    build.webhook(company)
    beside.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    beside.execute("SELECT count(*) FROM deliveries_delivery")
    for _ in range(8):
        publish(company, A_BATCH)
        Delivery.objects.filter(archived_on=OPEN).update(archived_on="2026-11-02", state=1)
    publish(company, 10)
    vacuum()


def publish(company: Company, count: int) -> None:
    publishing.publish([build.news(company, number) for number in range(count)])


def vacuum() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM deliveries_delivery_open")


def size() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size(%s)", [ORDER])
        return int(cursor.fetchone()[0])


@pytest.mark.usefixtures("bloated")
def test_indexes_are_rebuilt_once_their_entries_are_gone(beside: psycopg.Connection) -> None:
    assert jobs.rebuild_indexes() == 0  # All entries are needed while the transaction is open.
    beside.rollback()
    vacuum()
    large = size()

    assert jobs.rebuild_indexes() == 4

    assert size() < large / 10
    assert jobs.rebuild_indexes() == 0
    assert Delivery.objects.filter(archived_on=OPEN).count() == 10


@pytest.mark.usefixtures("bloated")
def test_an_index_that_is_in_use_stays_for_the_next_run(
    beside: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside.rollback()
    vacuum()
    monkeypatch.setattr(rest_rows, "LOCK_TIMEOUT", "20ms")
    beside.execute("LOCK TABLE deliveries_delivery_open IN ROW EXCLUSIVE MODE")

    assert jobs.rebuild_indexes() == 0

    beside.rollback()
    assert jobs.rebuild_indexes() == 4


@pytest.mark.usefixtures("bloated")
def test_a_large_table_is_not_read_under_a_lock(
    beside: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside.rollback()
    vacuum()
    monkeypatch.setattr(indexes, "MOST_READ", 0)

    assert jobs.rebuild_indexes() == 0


def test_an_index_that_is_full_is_left_alone(
    transactional_db: None, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "LEAST_BYTES", 2**16)
    build.webhook(company)
    publish(company, 2 * A_BATCH)
    vacuum()
    assert size() > indexes.LEAST_BYTES

    assert jobs.rebuild_indexes() == 0
