"""GET /guide/{tracking_number}: a shipment of the company's own, by its number (decision N10)."""

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build


def test_finds_the_shipment_of_a_number(api: APIClient, company: Company) -> None:
    build.shipment(company, 5, carrier_name="acme", carrier_id=9, status="Delivered")

    assert api.get("/guide/TEST0000005").json() == {
        "data": [
            {
                "id": 5,
                "tracking_number": "TEST0000005",
                "carrier": "acme",
                "carrier_id": 9,
                "status": "Delivered",
                "status_id": 0,
            }
        ]
    }


@pytest.mark.parametrize(
    "number",
    [
        "TEST0000009",
        "nobody",
        "test000000",
        "a/b",
        "%00",
        "%0A",
        "a%0Ab",
        "%ff",
        "x" * 5000,
        "%20",
    ],
)
def test_finds_nothing_where_the_number_is_unknown_or_anothers(
    api: APIClient, company: Company, birch: Company, number: str
) -> None:
    build.shipment(company, 5)
    build.shipment(birch, 9)

    answer = api.get(f"/guide/{number}")

    assert (answer.status_code, answer.json()) == (200, {"data": []})


def test_names_the_newest_shipment_of_a_number_first(api: APIClient, company: Company) -> None:
    for id in (5, 6):
        build.shipment(company, id, tracking_number="T-1")

    assert [one["id"] for one in api.get("/guide/T-1").json()["data"]] == [6, 5]


def test_a_ticket_can_be_opened_with_what_it_finds(api: APIClient, company: Company) -> None:
    build.shipment(company, 5)

    (row,) = api.get("/guide/TEST0000005").json()["data"]

    answer = api.post("/company/tickets", {"type_id": 5, "shipment_id": row["id"]})
    assert answer.status_code == 200
