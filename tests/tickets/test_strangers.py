"""A missing ticket and one of another company look the same, to the byte."""

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets.models import Comment, HistoryEntry, Rating, Ticket

DOORS = [
    ("get", "/company/tickets/{}", None),
    ("put", "/company/tickets/{}", {"ticket_status_id": 5, "comments": "x", "data": "{}"}),
    ("put", "/company/tickets/{}", {"ticket_status_id": 6}),
    ("post", "/company/tickets/{}/comments", {"comment": "x"}),
    ("post", "/company/tickets/{}/comments", {"comment": ""}),
    ("post", "/company/tickets/{}/comments", {"comment": 5}),
    ("get", "/company/tickets/comments/{}", None),
    ("post", "/tickets/ratings/{}", {"rating": 5}),
    ("post", "/tickets/ratings/{}", {"rating": 9}),
]
NO_IDS = ["0", "-5", "abc", "0x1", "+1", "1%20", "%D9%A1", "%EF%BC%91", "1%0A", "%00", "01"]
NO_IDS += ["9223372036854775808", "9" * 400, "null", "true", "1.0", "1e1"]


@pytest.mark.parametrize("status", [6, 2])
@pytest.mark.parametrize(("method", "address", "body"), DOORS)
def test_tells_no_foreign_ticket_from_a_missing_one(
    api: APIClient, birch: Company, method: str, address: str, body: dict | None, status: int
) -> None:
    ticket = build.ticket(birch, status=status)
    before = Ticket.objects.values().get()

    foreign = getattr(api, method)(address.format(ticket.pk), body)
    missing = getattr(api, method)(address.format(ticket.pk + 1000), body)

    assert foreign.status_code == missing.status_code
    assert foreign.status_code in (400, 404)
    assert foreign.content == missing.content
    assert Ticket.objects.values().get() == before
    for rows in (Comment, HistoryEntry, Rating):
        assert not rows.objects.exists()


def test_lists_nothing_of_another_company(api: APIClient, birch: Company) -> None:
    ticket = build.ticket(birch)

    for query in ({}, {"filter": ticket.pk}, {"status": 1}):
        answer = api.get("/company/tickets", query).json()
        assert (answer["data"], answer["total_rows"]) == ([], 0)
        assert answer["counts"] == {"active": 0, "resolved": 0}


@pytest.mark.parametrize(("method", "address", "body"), DOORS[:4] + DOORS[6:8])
def test_answers_404_in_json_to_what_is_no_id(
    api: APIClient, method: str, address: str, body: dict | None
) -> None:
    for text in NO_IDS:
        answer = getattr(api, method)(address.format(text), body)

        assert answer.status_code == 404, text
        assert answer.json()["statusCode"] == 404


@pytest.mark.parametrize(("method", "address", "body"), DOORS)
def test_asks_for_the_token_first(
    client: APIClient, company: Company, method: str, address: str, body: dict | None
) -> None:
    ticket = build.ticket(company)

    answer = APIClient().generic(
        method.upper(), address.format(ticket.pk), "{", content_type="application/json"
    )

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("patch", "/company/tickets"),
        ("delete", "/company/tickets"),
        ("patch", "/company/tickets/1"),
        ("delete", "/company/tickets/1"),
        ("post", "/company/tickets/1"),
        ("put", "/company/tickets/1/comments"),
        ("post", "/tickets/types"),
        ("get", "/tickets/ratings/1"),
    ],
)
def test_knows_no_other_methods(api: APIClient, method: str, address: str) -> None:
    answer = getattr(api, method)(address, {})

    assert answer.status_code == 405
    assert answer.json()["statusCode"] == 405
