"""A parcel is found by every usual spelling of its number, and only by its company."""

import json

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from shipments.models import Shipment
from tests import builders as build
from tests.plans import offer_only

SPELLINGS = [
    "1Z999AA10123456784",
    "1z999aa10123456784",
    "1Z 999 AA1 01 2345 6784",
    "1Z-999-AA1-01-2345-6784",
    " 1Z999AA10123456784\u00a0",
    "\uff11Z999AA10123456784",
]


@pytest.fixture(params=["1Z 999 AA1 01 2345 6784", "1z999aa10123456784"])
def parcel(request: pytest.FixtureRequest, company: Company, birch: Company) -> Shipment:
    build.shipment(birch, 9, tracking_number=request.param)
    return build.shipment(company, 5, tracking_number=request.param)


@pytest.mark.parametrize("number", SPELLINGS)
def test_every_way_to_it_finds_it(api: APIClient, parcel: Shipment, number: str) -> None:
    ticket = build.ticket(parcel.company, shipment_id=parcel.pk)

    guide = api.get(f"/guide/{number}").json()["data"]
    track = api.post(
        "/ship/generaltrack/",
        json.dumps({"trackingNumbers": [number]}),
        content_type="application/json",
    ).json()["data"]
    listed = api.get("/company/tickets", {"tracking_number": number}).json()["data"]

    assert [one["id"] for one in guide] == [parcel.pk]
    assert [one["shipmentId"] for one in track] == [parcel.pk]
    assert [one["id"] for one in listed] == [ticket.pk]


def test_the_spelling_that_was_asked_for_comes_first(company: Company) -> None:
    build.shipment(company, 5, tracking_number="AB-1")
    build.shipment(company, 6, tracking_number="AB1")

    for number, ids in (("AB-1", [5, 6]), ("AB1", [6, 5])):
        shipments = company.shipments.numbered([number]).order_by("place", "-pk")
        assert [one.pk for one in shipments] == ids


def test_several_numbers_keep_their_order_and_count_once(company: Company) -> None:
    for id, number in ((5, "A 5"), (6, "B-6"), (7, "C7")):
        build.shipment(company, id, tracking_number=number)

    shipments = company.shipments.numbered(["c-7", "b6", "a5", "A 5"]).order_by("place", "pk")

    assert [one.pk for one in shipments] == [7, 6, 5]


@pytest.mark.parametrize("number", ["", "---", " ", "\x00", "\u0640"])
def test_a_number_without_letters_finds_no_anonymised_parcel(company: Company, number: str) -> None:
    build.shipment(company, 5, tracking_number="")

    assert list(company.shipments.numbered([number])) == []


def test_a_number_of_signs_is_found_as_it_stands(company: Company) -> None:
    build.shipment(company, 5, tracking_number="---")
    build.shipment(company, 6, tracking_number="--")

    assert [one.pk for one in company.shipments.numbered(["---"])] == [5]


def test_an_index_finds_it(company: Company) -> None:
    offer_only("shipment_search_key")

    plan = company.shipments.numbered(["n7", "N 8"]).order_by("place").explain()

    assert "shipment_search_key" in plan
    assert "Seq Scan" not in plan
