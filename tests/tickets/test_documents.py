from typing import Any

import pytest
from rest_framework.test import APIClient

from tickets.models import Document, Ticket

CREDIT_LINE = 19


def refused(api: APIClient, documents: Any, type_id: int = CREDIT_LINE) -> list[str]:
    answer = api.post("/company/tickets", {"type_id": type_id, "documents": documents})
    assert answer.status_code == 400
    assert not Ticket.objects.exists()
    assert not Document.objects.exists()
    return [error["field"] for error in answer.json()["errors"]]


def test_keeps_documents_in_their_order_and_shows_them(api: APIClient) -> None:
    documents = [
        {"field_id": "rfc", "key": "RFC", "type": "input", "value": "XAXX010101000"},
        {"field_id": "id", "key": "", "type": "file", "value": "https://files.example.com/id"},
        {"field_id": "born", "key": None, "type": "date", "value": None},
        {"field_id": "é" * 50, "key": None, "type": None, "value": "free"},
    ]
    items = [{key: value for key, value in item.items() if value is not None} for item in documents]

    answer = api.post("/company/tickets", {"type_id": CREDIT_LINE, "documents": items})

    assert answer.status_code == 200
    (row,) = api.get(f"/company/tickets/{answer.json()['id']}").json()["data"]
    assert row["documents"] == documents


def test_takes_documents_on_other_types_by_the_same_checks(api: APIClient) -> None:
    assert refused(api, [{"field_id": "a", "type": "date", "value": "soon"}], type_id=2) == [
        "documents[0].value"
    ]
    body = {"type_id": 2, "documents": [{"field_id": "a", "type": "date", "value": "2026-01-02"}]}
    assert api.post("/company/tickets", body).status_code == 200
    assert Document.objects.get().value == "2026-01-02"


def test_empty_list_is_accepted_where_documents_are_optional(api: APIClient) -> None:
    assert api.post("/company/tickets", {"type_id": 2, "documents": []}).status_code == 200


@pytest.mark.parametrize("documents", [[], {}, "x", 5, True, None])
def test_demands_documents_for_a_credit_line(api: APIClient, documents: Any) -> None:
    assert refused(api, documents) == ["documents"]


@pytest.mark.parametrize("item", [1, "x", None, [], True])
def test_refuses_an_item_that_is_no_object(api: APIClient, item: Any) -> None:
    assert refused(api, [{"field_id": "a"}, item]) == ["documents[1]"]


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({}, "field_id"),
        ({"field_id": None}, "field_id"),
        ({"field_id": 1}, "field_id"),
        ({"field_id": ""}, "field_id"),
        ({"field_id": "é" * 51}, "field_id"),
        ({"field_id": "a", "key": None}, "key"),
        ({"field_id": "a", "key": 5}, "key"),
        ({"field_id": "a", "type": "pdf"}, "type"),
        ({"field_id": "a", "type": ""}, "type"),
        ({"field_id": "a", "type": None}, "type"),
        ({"field_id": "a", "type": True}, "type"),
        ({"field_id": "a", "type": {"a": 1}}, "type"),
        ({"field_id": "a", "type": "input", "value": 1}, "value"),
        ({"field_id": "a", "type": "file", "value": "javascript:alert(1)"}, "value"),
        ({"field_id": "a", "value": "x" * 65537}, "value"),
        ({"field_id": "a", "ticket_id": 1}, "ticket_id"),
    ],
)
def test_invalid_document_is_named_by_item_and_field(
    api: APIClient, item: dict[str, Any], field: str
) -> None:
    assert refused(api, [{"field_id": "fine"}, item]) == [f"documents[1].{field}"]


def test_takes_a_hundred_documents_and_no_more(api: APIClient) -> None:
    documents = [{"field_id": str(number)} for number in range(101)]

    assert refused(api, documents) == ["documents"]
    body = {"type_id": CREDIT_LINE, "documents": documents[:100]}
    assert api.post("/company/tickets", body).status_code == 200
    assert Document.objects.count() == 100
