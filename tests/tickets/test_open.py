from typing import Any

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from core.values.ids import LARGEST_ID
from tests.tickets.catalogue import CATALOGUE
from tickets.models import HistoryEntry, Ticket, TicketType


def post(api: APIClient, **body: Any) -> tuple[int, dict]:
    answer = api.post("/company/tickets", body)
    return answer.status_code, answer.json()


def refused(api: APIClient, **body: Any) -> list[str]:
    """Return the fields that a refusal names, after checking that nothing was stored."""
    status, answer = post(api, **body)
    assert (status, answer["statusCode"], answer["error"]) == (400, 400, "Bad Request")
    assert not Ticket.objects.exists()
    assert not HistoryEntry.objects.exists()
    return [error["field"] for error in answer["errors"]]


def test_opens_a_ticket_in_pending_and_answers_its_id(api: APIClient, company: Company) -> None:
    status, answer = post(api, type_id=3, shipment_id=4101, comments="Too heavy, they say.")

    ticket = Ticket.objects.get()
    assert (status, answer) == (200, {"id": ticket.pk})
    assert (ticket.company, ticket.type_id, ticket.status) == (company, 3, 1)
    assert (ticket.shipment_id, ticket.comments) == (4101, "Too heavy, they say.")
    assert (ticket.credit_id, ticket.carrier_id, ticket.warehouse_package_id) == (None,) * 3
    assert ticket.data is None


def test_fills_in_what_is_left_out(api: APIClient, company: Company) -> None:
    post(api, type_id=2)

    ticket = Ticket.objects.get()
    assert (ticket.comments, ticket.data, ticket.shipment_id) == ("", None, None)


def test_takes_null_where_null_is_the_default(api: APIClient) -> None:
    nothing = dict.fromkeys(
        ["shipment_id", "credit_id", "carrier_id", "warehouse_package_id"], None
    )

    assert post(api, type_id=9, **nothing)[0] == 200


def test_keeps_every_field(api: APIClient, company: Company) -> None:
    fields = {
        "shipment_id": LARGEST_ID,
        "credit_id": 2**31,
        "carrier_id": 1,
        "warehouse_package_id": "Almacén «Ñ» 7",
        "comments": "  two lines\r\n'; DROP TABLE ticket;-- 😀 ",
    }

    assert post(api, type_id=10, **fields)[0] == 200

    assert Ticket.objects.values(*fields).get() == fields


def test_writes_the_first_line_of_history(api: APIClient) -> None:
    post(api, type_id=2)

    first = HistoryEntry.objects.order_by("pk").first()
    assert (first.by, first.was, first.now, first.public) == ("company", None, 1, True)
    assert first.actor.startswith("test_")


@pytest.mark.parametrize("type_id", [1, 99, 2**31, LARGEST_ID])
def test_refuses_a_type_that_is_not_there(api: APIClient, type_id: int) -> None:
    assert refused(api, type_id=type_id) == ["type_id"]


def test_refuses_a_type_that_is_switched_off(api: APIClient) -> None:
    TicketType.objects.filter(pk=2).update(active=False)

    assert refused(api, type_id=2) == ["type_id"]


def test_takes_a_type_that_an_operator_added(api: APIClient) -> None:
    TicketType.objects.create(id=77, name="customs", reference="warehouse-package")

    assert refused(api, type_id=77) == ["warehouse_package_id"]
    assert post(api, type_id=77, warehouse_package_id="P-1")[0] == 200


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row[1])
def test_asks_for_what_the_type_is_about(api: APIClient, row: tuple) -> None:
    id, _, reference, required = row
    body = {
        "guide": {"shipment_id": 7},
        "credit": {"credit_id": 7},
        "legal-credit": {"documents": [{"field_id": "rfc"}]},
    }.get(reference, {})

    if required:
        assert refused(api, type_id=id) == [*body]
    assert post(api, type_id=id, **body)[0] == 200


NOT_IDS: list[Any] = [0, -3, True, False, "5", 5.0, 1.5, [], {}, LARGEST_ID + 1, "", 10**400]


@pytest.mark.parametrize("value", NOT_IDS, ids=lambda value: repr(value)[:20])
def test_refuses_what_is_not_an_id(api: APIClient, value: Any) -> None:
    for field in ("type_id", "shipment_id", "credit_id", "carrier_id"):
        assert refused(api, **{"type_id": 2, field: value}) == [field]


@pytest.mark.parametrize("value", [None, 1, True, [], {}, "x" * 65537, "é" * 32769])
def test_refuses_a_comment_that_is_no_text_of_64_kib(api: APIClient, value: Any) -> None:
    assert refused(api, type_id=2, comments=value) == ["comments"]


def test_takes_a_comment_of_64_kib(api: APIClient) -> None:
    assert post(api, type_id=2, comments="é" * 32768)[0] == 200


@pytest.mark.parametrize("value", [1, True, [], {}, "x" * 256])
def test_refuses_a_package_id_that_is_no_text_of_255(api: APIClient, value: Any) -> None:
    assert refused(api, type_id=10, warehouse_package_id=value) == ["warehouse_package_id"]


def test_takes_a_package_id_of_255_characters(api: APIClient) -> None:
    assert post(api, type_id=10, warehouse_package_id="ñ" * 255)[0] == 200


@pytest.mark.parametrize(
    "field", ["id", "company_id", "status", "ticket_status_id", "agent_id", "type", "_state"]
)
def test_refuses_a_field_it_does_not_know(api: APIClient, field: str) -> None:
    assert refused(api, type_id=2, **{field: 1}) == [field]


def test_names_every_wrong_field_at_once_also_what_the_type_lacks(api: APIClient) -> None:
    fields = refused(
        api, type_id=3, comments=5, carrier_id="7", wharehouse=1, documents=[{"field_id": "a"}, 7]
    )

    assert sorted(fields) == [
        "carrier_id",
        "comments",
        "documents[1]",
        "shipment_id",
        "wharehouse",
    ]


@pytest.mark.parametrize("body", ["[]", "null", "5", '"x"', "true"])
def test_refuses_a_body_that_is_no_object(api: APIClient, body: str) -> None:
    answer = api.generic("POST", "/company/tickets", body, content_type="application/json")

    assert answer.status_code == 400
    assert not Ticket.objects.exists()


def test_asks_for_the_type(api: APIClient) -> None:
    assert refused(api) == ["type_id"]
    assert refused(api, type_id=None) == ["type_id"]


def test_opens_one_ticket_for_one_idempotency_key(api: APIClient) -> None:
    body = {"type_id": 2, "comments": "please"}

    first = api.post("/company/tickets", body, headers={"Idempotency-Key": "k-1"})
    again = api.post("/company/tickets", body, headers={"Idempotency-Key": "k-1"})

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json() == {"id": Ticket.objects.get().pk}
