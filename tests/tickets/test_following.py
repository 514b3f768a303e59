"""Following tickets in the order of change: a company's copy misses none (decision N13)."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.conftest import signed_in
from tests.tickets.racing import PATIENCE_SECONDS, racers
from tests.tickets.test_list import listed
from tickets.api import following
from tickets.models import Ticket

START = datetime(2026, 3, 4, 12, tzinfo=UTC)
SINCE = "2026-03-04T12:00:00Z"


@pytest.fixture
def at(company: Company) -> Callable[..., int]:
    """Return a function that creates a ticket changed `seconds` after the start."""

    def make(seconds: float, **changes: Any) -> int:
        return build.ticket(company, updated_at=START + timedelta(seconds=seconds), **changes).pk

    return make


def walk(api: APIClient, cursor: str | None = None, **query: Any) -> tuple[list[int], str]:
    """Return all ids after a cursor, and the next cursor."""
    ids: list[int] = []
    while True:
        place = {"cursor": cursor} if cursor else {}
        answer = listed(api, updated_since=SINCE, **place, **query)
        if not answer["data"]:
            return ids, answer["next_cursor"]
        ids += [row["id"] for row in answer["data"]]
        cursor = answer["next_cursor"]


def test_lists_the_oldest_change_first_from_a_time_on(
    api: APIClient, at: Callable[..., int]
) -> None:
    later, first, same, _ = at(9), at(0), at(0), at(-0.000001)

    assert walk(api, limit=1)[0] == [first, same, later]
    assert walk(api)[0] == [first, same, later]


def test_always_has_a_cursor_to_go_on_from(api: APIClient, at: Callable[..., int]) -> None:
    nothing = listed(api, updated_since=SINCE)
    assert (nothing["data"], nothing["next_cursor"]) == ([], "1772625600000000-0")

    first = at(1)
    ids, end = walk(api, nothing["next_cursor"])
    assert ids == [first]
    assert walk(api, end) == ([], end)

    second = at(2)
    Ticket.objects.filter(pk=first).update(updated_at=START + timedelta(seconds=3))
    assert walk(api, end, limit=1)[0] == [second, first]


def test_following_combines_with_other_filters(api: APIClient, at: Callable[..., int]) -> None:
    at(1, status=2)
    wanted = at(2, status=6, type_id=5)
    at(3, status=6, type_id=4)

    assert walk(api, status="6", type="5,3")[0] == [wanted]


def test_shows_nothing_of_another_company(api: APIClient, birch: Company) -> None:
    build.ticket(birch, updated_at=START)

    assert walk(api)[0] == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"updated_since": "yesterday"}, "updated_since"),
        ({"updated_since": SINCE, "page": 2}, "page"),
        ({"updated_since": SINCE, "q": "lamp"}, "q"),
        ({"updated_since": SINCE, "cursor": "41"}, "cursor"),
        ({"updated_since": SINCE, "cursor": "-"}, "cursor"),
        ({"updated_since": SINCE, "cursor": f"{'9' * 18}-1"}, "cursor"),
        ({"updated_since": SINCE, "cursor": f"1-{'9' * 19}"}, "cursor"),
        ({"cursor": "1772625600000000-0"}, "cursor"),
    ],
)
def test_conflicting_parameters_are_named(
    api: APIClient, query: dict[str, Any], field: str
) -> None:
    answer = api.get("/company/tickets", query)

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


@pytest.mark.usefixtures("rows_to_keep")
def test_late_commit_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit the first change after the second one was read."""
    acme = build.company()
    api = signed_in(acme)
    changed, read = Event(), Event()

    def change_slowly() -> int:
        with transaction.atomic():
            late = build.ticket(acme).pk
            changed.set()
            read.wait(PATIENCE_SECONDS)
        return late

    def read_meanwhile() -> tuple[int, list[int], str]:
        changed.wait(PATIENCE_SECONDS)
        try:
            early = build.ticket(acme).pk
            return early, *walk(api)
        finally:
            read.set()

    no_margin = following.SETTLED.replace("2 seconds", "0 seconds")
    monkeypatch.setattr(following, "SETTLED", no_margin)
    with racers(2) as together:
        late, (early, ids, cursor) = together.run([change_slowly, read_meanwhile])
        assert ids == []
        assert walk(api, cursor)[0] == [late, early]


@contextmanager
def open_transaction(*statements: str) -> Iterator[None]:
    """Keep a transaction of another connection open, in which these statements have run."""
    with racers(1) as beside:
        ready, end = Event(), Event()

        def stay() -> None:
            with transaction.atomic(), connection.cursor() as cursor:
                for statement in ("SELECT 1", *statements):
                    cursor.execute(statement)
                ready.set()
                end.wait(PATIENCE_SECONDS)

        staying = beside.pool.submit(stay)
        try:
            assert ready.wait(PATIENCE_SECONDS)
            yield
        finally:
            end.set()
            staying.result(PATIENCE_SECONDS)


def held_back() -> timedelta:
    """Return how long before now the list ends, without the margin for clocks."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return now - following.settled_until() - timedelta(seconds=2)


@pytest.mark.usefixtures("rows_to_keep")
def test_transaction_that_may_still_write_holds_the_list_back() -> None:
    with open_transaction():
        time.sleep(0.2)
        assert held_back() >= timedelta(seconds=0.2)
    with open_transaction("SELECT pg_current_xact_id()"):
        time.sleep(0.2)
        assert held_back() >= timedelta(seconds=0.2)
    assert held_back() < timedelta(seconds=60)


@pytest.mark.usefixtures("rows_to_keep")
def test_transaction_that_only_reads_for_long_holds_nothing_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wait only for a transaction with an id, which may still commit a change."""
    short = following.SETTLED.replace("1 minute", "100 milliseconds")
    monkeypatch.setattr(following, "SETTLED", short)
    with open_transaction():
        time.sleep(0.3)
        reading = held_back()
    with open_transaction("SELECT pg_current_xact_id()"):
        time.sleep(0.3)
        writing = held_back()

    assert writing >= timedelta(seconds=0.3)
    assert reading < timedelta(seconds=0.3)
