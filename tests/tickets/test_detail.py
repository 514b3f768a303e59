from datetime import UTC, datetime
from typing import Any

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets.models import Agent, Comment, HistoryEntry

AT = datetime(2026, 3, 4, 5, 6, 7, 890000, tzinfo=UTC)
TIME_TEXT = "2026-03-04 05:06:07"


def ticket_data(api: APIClient, ticket_id: int, **query: Any) -> dict[str, Any]:
    answer = api.get(f"/company/tickets/{ticket_id}", query)
    assert answer.status_code == 200, answer.json()
    body = answer.json()
    assert body["total_rows"] == 1
    (row,) = body["data"]
    return row


def test_shows_a_ticket_whole(api: APIClient, company: Company) -> None:
    shipment = build.shipment(company, 4101, tracking_number="T-1", carrier_name="Acme Express")
    ticket = build.ticket(
        company,
        type_id=4,
        status=10,
        shipment_id=shipment.pk,
        credit_id=3,
        carrier_id=8,
        warehouse_package_id="P-1",
        comments="It never came.",
        data='{"b":1,"a":2}',
        created_at=AT,
        updated_at=AT,
    )
    Comment.objects.create(ticket=ticket, by="agent", text="We look.", status=6, created_at=AT)
    HistoryEntry.objects.create(ticket=ticket, by="company", now=1, created_at=AT)

    assert ticket_data(api, ticket.pk) == {
        "id": ticket.pk,
        "company_id": company.pk,
        "ticket_type_id": 4,
        "ticket_type_name": "lost",
        "reference": "guide",
        "ticket_status_id": 10,
        "ticket_status_name": "claim_in_review",
        "shipment_id": 4101,
        "tracking_number": "T-1",
        "carrier": "Acme Express",
        "carrier_id": 8,
        "credit_id": 3,
        "warehouse_package_id": "P-1",
        "comments": "It never came.",
        "data": '{"b":1,"a":2}',
        "documents": [],
        "files": [],
        "file_quantity": 0,
        "requested_documents": [],
        "reason_code": None,
        "amounts": None,
        "created_at": TIME_TEXT,
        "updated_at": TIME_TEXT,
        "utc_created_at": TIME_TEXT,
        "last_comment": {
            "comment_text": "We look.",
            "comment_type": "admin",
            "comment_status_id": 6,
            "comment_created_at": TIME_TEXT,
        },
        "allComments": [],
        "rating": {"evaluated": 0, "rating": None, "comment": None},
        "history": [{"from": None, "to": 1, "actor": "company", "at": TIME_TEXT}],
        "appeal": None,
    }


def test_shows_the_same_row_as_the_list_and_the_history_beside_it(
    api: APIClient, company: Company
) -> None:
    ticket_id = api.post("/company/tickets", {"type_id": 2, "comments": "hi"}).json()["id"]

    row = ticket_data(api, ticket_id)
    (listed,) = api.get("/company/tickets").json()["data"]

    assert row.pop("history") is not None
    assert row.pop("appeal") is None
    assert row == listed


def test_shows_moves_and_who_made_them_but_no_names_and_no_private_lines(
    api: APIClient, company: Company, agent: Agent
) -> None:
    ticket_id = api.post("/company/tickets", {"type_id": 2}).json()["id"]
    api.put(f"/company/tickets/{ticket_id}", {"ticket_status_id": 5, "comments": "more"})
    ticket = company.tickets.get()
    for by, before, now in (("agent", 1, 3), ("lead", 3, 6)):
        HistoryEntry.objects.create(
            ticket=ticket, by=by, actor="ada", was=before, now=now, created_at=AT
        )

    history = ticket_data(api, ticket_id)["history"]

    assert [(line["from"], line["to"], line["actor"]) for line in history] == [
        (None, 1, "company"),
        (1, 3, "agent"),
        (3, 6, "agent"),
    ]
    assert HistoryEntry.objects.filter(public=False).count() == 2
    assert set(history[0]) == {"from", "to", "actor", "at"}


@pytest.mark.parametrize("has_shipment", [True, False])
def test_keeps_a_shipment_that_is_not_the_companys_as_a_number(
    api: APIClient, company: Company, birch: Company, has_shipment: bool
) -> None:
    if has_shipment:
        build.shipment(birch, 4101, tracking_number="SECRET", carrier_name="SECRET")

    ticket_id = api.post("/company/tickets", {"type_id": 4, "shipment_id": 4101}).json()["id"]

    row = ticket_data(api, ticket_id, getComments="1")
    assert (row["shipment_id"], row["tracking_number"], row["carrier"]) == (4101, None, None)
    assert "SECRET" not in str(api.get("/company/tickets").json())


def test_fills_in_all_comments_when_asked(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)
    Comment.objects.create(ticket=ticket, by="company", text="one", status=1, created_at=AT)

    (comment,) = ticket_data(api, ticket.pk, getComments="true")["allComments"]

    assert comment["description"] == "one"


def test_knows_no_other_queries(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)

    for address in (
        f"/company/tickets/{ticket.pk}",
        f"/company/tickets/comments/{ticket.pk}",
        "/tickets/types",
    ):
        answer = api.get(address, {"page": "1"})
        assert answer.status_code == 400
        assert [error["field"] for error in answer.json()["errors"]] == ["page"]
