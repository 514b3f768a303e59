from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from core.values.ids import LARGEST_ID
from tests import builders as build
from tickets.models import Comment, Document, Rating, Ticket

Queries = Callable[..., Any]


def listed(api: APIClient, **query: Any) -> dict[str, Any]:
    answer = api.get("/company/tickets", query)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def ids(api: APIClient, **query: Any) -> list[int]:
    return [row["id"] for row in listed(api, **query)["data"]]


def many(company: Company, number: int, **changes: Any) -> list[int]:
    """Return the ids of new tickets, newest first."""
    return [build.ticket(company, **changes).pk for _ in range(number)][::-1]


def test_answers_an_empty_list(api: APIClient) -> None:
    assert listed(api) == {
        "data": [],
        "total_rows": 0,
        "total_rows_exact": True,
        "counts": {"active": 0, "resolved": 0},
        "next_cursor": None,
    }


def test_lists_the_newest_first_twenty_at_a_time(api: APIClient, company: Company) -> None:
    newest_first = many(company, 23)

    first = listed(api)

    assert [row["id"] for row in first["data"]] == newest_first[:20]
    assert (first["total_rows"], first["counts"]) == (23, {"active": 23, "resolved": 0})
    assert ids(api, page=2) == newest_first[20:]
    assert ids(api, page=2, limit=10) == newest_first[10:20]
    assert ids(api, page=3) == []
    assert ids(api, page=LARGEST_ID, limit=100) == []


def test_reaches_every_row_once_by_the_cursor_although_more_are_opened(
    api: APIClient, company: Company
) -> None:
    newest_first = many(company, 7)
    Ticket.objects.filter(pk__in=newest_first[1:4]).update(created_at=timezone.now())

    expected = ids(api)
    read_ids, cursor = [], {}
    while True:
        answer = listed(api, limit=2, **cursor)
        read_ids += [row["id"] for row in answer["data"]]
        assert answer["total_rows"] >= 7
        build.ticket(company)
        if answer["next_cursor"] is None:
            break
        cursor = {"cursor": answer["next_cursor"]}

    assert read_ids == expected


def test_names_no_next_cursor_on_the_last_page(api: APIClient, company: Company) -> None:
    newest_first = many(company, 4)

    assert listed(api, limit=2)["next_cursor"] == str(newest_first[1])
    assert listed(api, limit=2, page=2)["next_cursor"] is None
    assert listed(api, limit=2, cursor=newest_first[1])["next_cursor"] is None


def test_unknown_or_foreign_cursor_is_refused(
    api: APIClient, company: Company, birch: Company
) -> None:
    foreign = build.ticket(birch)

    for cursor in (foreign.pk, foreign.pk + 1, LARGEST_ID):
        answer = api.get("/company/tickets", {"cursor": cursor})
        assert [error["field"] for error in answer.json()["errors"]] == ["cursor"]


def test_filters_by_status_and_counts_without_it(api: APIClient, company: Company) -> None:
    tickets = {status: build.ticket(company, status=status).pk for status in (1, 2, 3, 4, 5, 6, 10)}
    build.ticket(company, status=6, type_id=9)

    for query, wanted in (
        ({"status_group": "active"}, {1, 4, 5, 6, 10}),
        ({"status_group": "resolved"}, {2, 3}),
        ({"status": 6}, {6}),
        ({"ticket_status_id": 2}, {2}),
        ({"status": 2, "status_group": "active"}, {2}),
    ):
        answer = listed(api, type=3, **query)
        assert {row["id"] for row in answer["data"]} == {tickets[status] for status in wanted}
        assert answer["total_rows"] == len(wanted)
        assert answer["counts"] == {"active": 5, "resolved": 2}


def test_filters_by_what_a_ticket_is_about(api: APIClient, company: Company) -> None:
    ours = build.shipment(company, 1, tracking_number="TRACK-1")
    other = build.ticket(company, type_id=2)
    ticket = build.ticket(company, type_id=4, shipment_id=ours.pk, carrier_id=8)

    for query in (
        {"type": 4},
        {"ticket_type_id": 4},
        {"carrier_id": 8},
        {"filter": ticket.pk},
        {"tracking_number": "TRACK-1"},
        {"tracking_number": "track 1"},
    ):
        assert ids(api, **query) == [ticket.pk]
    assert ids(api, filter=other.pk, type=4) == []
    assert ids(api, tracking_number="track-11") == []


def test_finds_no_ticket_by_the_tracking_number_of_another_company(
    api: APIClient, company: Company, birch: Company
) -> None:
    theirs = build.shipment(birch, 1, tracking_number="TRACK-1")
    build.ticket(company, shipment_id=theirs.pk)

    assert ids(api, tracking_number="TRACK-1") == []


def test_filters_by_days_that_both_count(api: APIClient, company: Company) -> None:
    noon = datetime(2026, 3, 4, 12, tzinfo=UTC)
    first = build.ticket(company, created_at=noon.replace(hour=0)).pk
    last = build.ticket(company, created_at=noon.replace(hour=23, minute=59, second=59)).pk
    after = build.ticket(company, created_at=noon + timedelta(hours=12)).pk

    assert ids(api, date_from="2026-03-04", date_to="2026-03-04") == [last, first]
    assert ids(api, date_from="2026-03-05") == [after]
    assert ids(api, date_to="2026-03-03") == []
    assert ids(api, date_from="0001-01-01", date_to="9999-12-31") == [after, last, first]
    assert listed(api, date_to="2026-03-04")["counts"] == {"active": 2, "resolved": 0}


def test_fills_in_all_comments_when_asked(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)
    for text, public in (("one", True), ("two", True), ("secret", False)):
        Comment.objects.create(
            ticket=ticket, by="agent", text=text, public=public, status=6, created_at=timezone.now()
        )

    for value in ("true", "1"):
        (row,) = listed(api, getComments=value)["data"]
        assert [comment["description"] for comment in row["allComments"]] == ["one", "two"]
        assert row["last_comment"]["comment_text"] == "two"
    for query in ({}, {"getComments": "false"}, {"getComments": "0"}):
        (row,) = listed(api, **query)["data"]
        assert row["allComments"] == []
        assert row["last_comment"]["comment_text"] == "two"


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("page", ["0", "-1", "1.0", "x", "", "+1", " 1", "\u0661", "9" * 20]),
        ("limit", ["0", "101", "x"]),
        ("cursor", ["0", "x", "-1"]),
        ("status", ["0", "99", "x", "accepted"]),
        ("ticket_status_id", ["8"]),
        ("type", ["x", "0"]),
        ("ticket_type_id", ["x"]),
        ("carrier_id", ["x", "0", str(LARGEST_ID + 1)]),
        ("filter", ["x", "1,2"]),
        ("status_group", ["", "open", "ACTIVE"]),
        ("date_from", ["", "2026-13-01", "20260101", "01-02-2026", "2026-W01-1"]),
        ("date_to", ["tomorrow", "2026-01-01T00:00:00"]),
        ("getComments", ["yes", ""]),
        ("tracking_number", ["", "\x00"]),
        ("search", ["x"]),
        ("getcomments", ["1"]),
        ("company_id", ["1"]),
    ],
)
def test_invalid_parameters_are_named(api: APIClient, field: str, values: list[str]) -> None:
    for value in values:
        answer = api.get("/company/tickets", {field: value})

        assert answer.status_code == 400, value
        assert field in [error["field"] for error in answer.json()["errors"]]


def test_refuses_the_same_name_twice_and_two_names_for_one_thing(api: APIClient) -> None:
    for query, field in (
        ("page=1&page=2", "page"),
        ("status=1&ticket_status_id=1", "ticket_status_id"),
        ("type=1&ticket_type_id=1", "ticket_type_id"),
        ("page=1&cursor=1", "cursor"),
    ):
        answer = api.get(f"/company/tickets?{query}")
        assert answer.status_code == 400
        assert [error["field"] for error in answer.json()["errors"]] == [field]


@pytest.mark.parametrize("query", [{}, {"getComments": "1"}])
def test_needs_as_many_queries_for_many_rows_as_for_one(
    api: APIClient, company: Company, django_assert_num_queries: Queries, query: dict[str, str]
) -> None:
    for number in range(12):
        shipment = build.shipment(company, number + 1)
        ticket = build.ticket(company, status=2, shipment_id=shipment.pk)
        now = timezone.now()
        Document.objects.create(ticket=ticket, position=0, field_id="a")
        Rating.objects.create(ticket=ticket, rating=5, created_at=now)
        for _ in range(3):
            Comment.objects.create(ticket=ticket, by="agent", text="x", status=2, created_at=now)
    listed(api)

    # Queries: the token, the counts, the page's ids, its rows, documents, files, requested
    # documents, shipments and comments.
    for limit in (1, 12):
        with django_assert_num_queries(9):
            assert len(ids(api, limit=limit, **query)) == limit
