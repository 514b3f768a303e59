"""Long lists cost as much as short ones: counts and reads are bounded."""

import json
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.tickets.test_list import ids, listed
from tickets import tasks
from tickets.api import counting

MANY = """
INSERT INTO tickets_ticket (company_id, type_id, status, comments, carrier_id, carrier_name,
  version, created_at, updated_at, clock_digest)
SELECT %s, 2 + number %% 2, CASE WHEN number %% 500 = 0 THEN 4 ELSE 2 + number %% 2 END, '',
  CASE WHEN number %% 400 = 0 THEN 8 END, '', 1, now() - number * interval '1 minute',
  now() - number * interval '1 minute', 0
FROM generate_series(1, %s) AS number
"""
LENGTH = 2_000


@pytest.fixture(autouse=True)
def nothing_kept(db: None) -> None:
    cache.clear()


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Record the tasks for a worker, which do not run by themselves."""
    rings: list[tuple[Any, ...]] = []
    monkeypatch.setattr(counting.doorbell, "ring", lambda *ring: rings.append(ring))
    return rings


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the bound, so that a list of four is a long one."""
    monkeypatch.setattr(counting, "MOST_COUNTED", 3)


def numbers(answer: dict[str, Any]) -> tuple[int, bool, int, int]:
    return (answer["total_rows"], answer["total_rows_exact"], *answer["counts"].values())


def test_counts_exactly_up_to_a_length(
    api: APIClient, company: Company, few: None, rung: list[Any]
) -> None:
    for status in (1, 2, 2):
        build.ticket(company, status=status)

    assert numbers(listed(api)) == (3, True, 1, 2)
    assert numbers(listed(api, status=2)) == (2, True, 1, 2)
    assert rung == []


def test_long_list_is_counted_by_a_worker_for_later_requests(
    api: APIClient, company: Company, few: None, rung: list[Any]
) -> None:
    for status in (1, 2, 2, 2, 2, 6):
        build.ticket(company, status=status)
    build.ticket(company, type_id=9)

    first = listed(api, type=3, limit=2)
    assert (first["total_rows"], first["total_rows_exact"]) == (4, False)
    assert first["next_cursor"]
    listed(api, type=3, status_group="active")
    assert rung == [(counting.TASK, company.pk, {"type": "3"})]

    tasks.count_list(*rung[0][1:])

    assert numbers(listed(api, type=3)) == (6, False, 2, 4)
    assert numbers(listed(api, type=3, status=2, limit=1)) == (4, False, 2, 4)
    assert len(rung) == 1
    build.ticket(company)
    assert listed(api, type=3, limit=2)["total_rows"] == 6
    # A page never shows more rows than the count says.
    assert listed(api, type=3)["total_rows"] == 7


def test_old_count_is_returned_and_renewed(
    api: APIClient, company: Company, few: None, rung: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        build.ticket(company)
    tasks.count_list(company.pk, {})
    build.ticket(company)
    monkeypatch.setattr(counting, "FRESH_SECONDS", -1)

    assert [listed(api, limit=2)["total_rows"] for _ in range(2)] == [5, 5]
    assert rung == [(counting.TASK, company.pk, {})]


def test_without_a_cache_it_still_reads_no_more(
    api: APIClient, company: Company, few: None, rung: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(6):
        build.ticket(company)

    def away(*_: object, **__: object) -> None:
        raise ConnectionError

    for verb in ("get", "add"):
        monkeypatch.setattr(counting.cache, verb, away, raising=False)

    assert numbers(listed(api, limit=2)) == (4, False, 4, 0)
    assert len(ids(api, page=2, limit=4)) == 2
    assert rung == []


@pytest.mark.usefixtures("rung")
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"status": "4"},
        {"status_group": "active"},
        {"status": "1,4"},
        {"type": "2"},
        {"type": "2", "cursor": True},
        {"carrier_id": "8"},
        {"shipment_id": "1"},
        {"updated_since": "2020-01-01T00:00:00Z"},
    ],
    ids=str,
)
def test_list_reads_only_the_rows_that_it_shows(
    api: APIClient,
    company: Company,
    birch: Company,
    query: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "MOST_COUNTED", 50)
    with connection.cursor() as cursor:
        for one in (company, birch):
            cursor.execute(MANY, [one.pk, LENGTH])
        cursor.execute("ANALYZE tickets_ticket")
    if query.get("cursor"):
        query = {**query, "cursor": listed(api)["next_cursor"]}
    with CaptureQueriesContext(connection) as queries:
        answer = listed(api, **query)
        assert len(answer["data"]) <= min(20, answer["total_rows"])

    lists = [each["sql"] for each in queries if 'FROM "tickets_ticket"' in each["sql"]]
    assert lists
    assert max(map(rows_read, lists)) <= 200


@pytest.mark.usefixtures("rung")
@pytest.mark.parametrize("query", [{}, {"status": "2"}, {"status": "1,2,4"}], ids=str)
def test_late_page_fetches_only_its_own_ids(
    api: APIClient, company: Company, query: dict[str, Any]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(MANY, [company.pk, 1000])
    everything = list(company.tickets.newest().values_list("pk", "status"))
    wanted = [pk for pk, status in everything if str(status) in query.get("status", "1,2,3,4,5,6")]
    pages = len(wanted) // 2

    with CaptureQueriesContext(connection) as queries:
        assert ids(api, page=pages, limit=2, **query) == wanted[pages * 2 - 2 : pages * 2]

    skipping = [each["sql"] for each in queries if "OFFSET" in each["sql"]]
    assert skipping == [sql for sql in skipping if sql.endswith(f"OFFSET {pages * 2 - 2}")] != []


def rows_read(sql: str) -> int:
    """Return the number of rows of tickets that a statement reads, through whichever index."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}")
        answer = cursor.fetchone()[0]
    plan = json.loads(answer) if isinstance(answer, str) else answer
    waiting, read = [plan[0]["Plan"]], 0
    while waiting:
        part = waiting.pop()
        waiting += part.get("Plans", [])
        if part.get("Relation Name") == "tickets_ticket":
            filtered_rows = part.get("Rows Removed by Filter", 0)
            read += int((part["Actual Rows"] + filtered_rows) * part["Actual Loops"])
    return read


def test_counts_of_two_companies_are_kept_apart(
    api: APIClient,
    company: Company,
    birch_api: APIClient,
    birch: Company,
    few: None,
    rung: list[Any],
) -> None:
    for owner, number in ((company, 4), (birch, 6)):
        for _ in range(number):
            build.ticket(owner, status=2)
    for client in (api, birch_api):
        listed(client)
    assert [ring[1] for ring in rung] == [company.pk, birch.pk]

    for ring in rung:
        tasks.count_list(*ring[1:])

    assert (listed(api)["total_rows"], listed(birch_api)["total_rows"]) == (4, 6)
