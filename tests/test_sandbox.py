"""In the test environment a company plays the platform and the agent itself (decision N15)."""

import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLResolver, clear_url_caches, get_resolver
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from config import urls
from deliveries.models import Delivery, Event
from shipments.event_types.surcharge import SURCHARGE
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tests import builders as build
from tickets.models import HistoryEntry, IncidenceLink, Ticket
from tickets.statuses import Status

CHARGE = {
    "kind": "surcharge",
    "surcharge_type": "Overweight",
    "amount": 12.5,
    "currency": "MXN",
    "transaction_type": "surcharge",
}


@pytest.fixture
def shipment(api: APIClient) -> Shipment:
    created = api.post("/test/shipments", {"tracking_number": "T-1", "carrier_name": "acme"}).json()
    return Shipment.objects.get(pk=created["data"]["shipment_id"])


def play(api: APIClient, shipment: Shipment, **event: Any) -> Any:
    return api.post(f"/test/shipments/{shipment.pk}/events", event)


def move(api: APIClient, ticket: Ticket, to: int, **more: Any) -> Any:
    return api.post(f"/test/tickets/{ticket.pk}/move", {"ticket_status_id": to, **more})


def test_makes_a_shipment_of_the_caller_s(api: APIClient, company: Company) -> None:
    order = {"shop_id": 1, "order_identifier": "5", "order_number": "6", "order_name": "#6"}
    body = {"tracking_number": "T-1", "carrier_name": "acme", "carrier_id": 3, "order": order}

    answer = api.post("/test/shipments", body)

    row = Shipment.objects.get()
    assert answer.json() == {"data": {"shipment_id": row.pk, "tracking_number": "T-1"}}
    assert (row.company_id, row.carrier_name, row.carrier_id) == (company.pk, "acme", 3)
    assert (row.order, row.status) == (order, "Created")
    tracked = api.post("/ship/generaltrack/", {"trackingNumbers": ["T-1"]}).json()["data"]
    assert [one["shipmentId"] for one in tracked] == [row.pk]


def test_makes_up_what_is_left_out(api: APIClient) -> None:
    both = [api.post("/test/shipments", body).json()["data"] for body in ({}, {"order": None})]

    assert len({one["shipment_id"] for one in both}) == 2
    assert all(one["tracking_number"] == f"TEST{one['shipment_id']}" for one in both)
    assert all(one["shipment_id"] < 2**53 for one in both)


def test_brings_a_shipment_of_its_own_up_to_date(api: APIClient, shipment: Shipment) -> None:
    api.post("/test/shipments", {"shipment_id": shipment.pk, "tracking_number": "T-2"})

    assert list(Shipment.objects.values_list("pk", "tracking_number")) == [(shipment.pk, "T-2")]


def test_a_scan_reaches_the_webhooks_as_the_feed_s_does(
    api: APIClient, company: Company, birch: Company, shipment: Shipment
) -> None:
    webhook = build.webhook(company)
    build.webhook(birch)

    answer = play(api, shipment, kind="tracking", status="delivered", location="León, MX")
    again = play(api, shipment, kind="tracking", status="delivered", location="León, MX")

    did = {"shipment_id": shipment.pk, "id": None, "changed": True, "events": 1}
    assert answer.json() == {"data": did}
    assert again.json() == {"data": {**did, "changed": False, "events": 0}}
    assert Delivery.objects.get().webhook_id == webhook.pk
    body = json.loads(bytes(Event.objects.get().body))
    assert (body["type"], body["data"]["status"]) == ("tracking.simple", "delivered")
    shipment.refresh_from_db()
    assert shipment.status == "Delivered"


def test_a_charge_and_its_refund_have_one_id(
    api: APIClient, company: Company, shipment: Shipment
) -> None:
    build.webhook(company, SURCHARGE.id)
    charged = play(api, shipment, **CHARGE).json()["data"]["id"]
    refund = {**CHARGE, "transaction_type": "refund", "surcharge_id": charged}

    refunded = play(api, shipment, **refund).json()["data"]

    assert (refunded["id"], refunded["events"]) == (charged, 1)
    assert Surcharge.objects.filter(surcharge_id=charged).count() == Delivery.objects.count() == 2
    other = play(api, shipment, **{**refund, "amount": 3})
    assert (other.status_code, other.json()["code"]) == (409, "id_taken")


def test_an_incidence_is_linked_to_its_tickets(api: APIClient, shipment: Shipment) -> None:
    opened = api.post("/company/tickets", {"type_id": 5, "shipment_id": shipment.pk}).json()["id"]

    played = play(api, shipment, kind="incidence", incidence_kind="damaged").json()["data"]

    assert IncidenceLink.objects.values_list("ticket_id", "incidence_id").get() == (
        opened,
        played["id"],
    )


def test_names_every_wrong_field_as_the_api_does(api: APIClient, shipment: Shipment) -> None:
    event = {**CHARGE, "amount": "1", "currency": "mxn", "colour": 1}
    del event["surcharge_type"]

    answer = play(api, shipment, **event)

    assert answer.status_code == 400
    assert [tuple(one.values()) for one in answer.json()["errors"]] == [
        ("colour", "Unknown field.", "unknown_field"),
        ("surcharge_type", "This field is required.", "required"),
        ("amount", "Send a number.", "not_in_feed"),
        ("currency", "Send an ISO 4217 code such as MXN.", "not_in_feed"),
    ]


def test_nobody_plays_another_company_s(
    api: APIClient, birch: Company, birch_api: APIClient, shipment: Shipment
) -> None:
    ticket = build.ticket(shipment.company)
    played = play(api, shipment, kind="incidence").json()["data"]["id"]
    other = Shipment.objects.get(
        pk=birch_api.post("/test/shipments", {}).json()["data"]["shipment_id"]
    )
    before = Shipment.objects.values().get(pk=shipment.pk)

    answers = [
        birch_api.post("/test/shipments", {"shipment_id": shipment.pk}),
        play(birch_api, shipment, kind="tracking", status="Lost"),
        play(birch_api, other, kind="incidence", incidence_id=played, description="mine now"),
        move(birch_api, ticket, Status.ACCEPTED),
    ]

    assert [one.status_code for one in answers] == [409, 404, 409, 404]
    assert str(shipment.pk) not in answers[2].content.decode()
    assert Shipment.objects.values().get(pk=shipment.pk) == before
    assert Incidence.objects.get().shipment_id == shipment.pk
    assert not TrackingUpdate.objects.exists()
    ticket.refresh_from_db()
    assert ticket.status == Status.PENDING


def test_the_agent_is_played_from_the_opening_to_the_rating(
    api: APIClient, company: Company, shipment: Shipment
) -> None:
    opened = api.post("/company/tickets", {"type_id": 5, "shipment_id": shipment.pk}).json()["id"]
    ticket = Ticket.objects.get(pk=opened)

    answer = move(api, ticket, 4, reason="Which box?", requested_documents=["photo", "invoice"])
    api.put(f"/company/tickets/{opened}", {"ticket_status_id": 5, "comments": "The small one."})
    move(api, ticket, 3, reason="No photo.")
    api.post(f"/company/tickets/{opened}/appeal", {"comment": "It was the small one."})
    reopened = move(api, ticket, 6, reason="Right.")
    move(api, ticket, 2)
    rated = api.post(f"/tickets/ratings/{opened}", {"rating": 5})

    assert (answer.json(), answer["X-Ticket-Changed"]) == ({"data": True}, "1")
    assert (answer["X-Ticket-Status"], reopened["X-Ticket-Status"]) == ("4", "6")
    assert reopened.status_code == rated.status_code == 200
    (row,) = api.get(f"/company/tickets/{opened}?getComments=true").json()["data"]
    assert [one["to"] for one in row["history"]] == [1, 4, 5, 3, 6, 2]
    assert {one["actor"] for one in row["history"]} == {"company", "agent"}
    assert row["allComments"][0]["description"] == "Which box?\nPlease send:\n- photo\n- invoice"
    assert row["appeal"]["state"] == "accepted"
    assert set(HistoryEntry.objects.values_list("actor", flat=True)) >= {"sandbox"}


def test_a_move_that_cannot_be_is_refused_with_its_reason(api: APIClient, company: Company) -> None:
    answer = move(api, build.ticket(company), 3)

    assert (answer.status_code, answer.json()["code"]) == (422, "move_refused")
    assert answer.json()["message"].startswith("Give a reason")


def test_the_same_key_plays_once(api: APIClient) -> None:
    key = {"Idempotency-Key": "one"}

    both = [api.post("/test/shipments", {}, headers=key).json() for _ in range(2)]

    assert both[0] == both[1]
    assert Shipment.objects.count() == 1


@pytest.fixture
def production(settings: Settings) -> Iterator[None]:
    """Serve the addresses of a web process in production."""
    settings.ENVIRONMENT = "production"
    importlib.reload(urls)
    clear_url_caches()
    yield
    settings.ENVIRONMENT = "test"
    importlib.reload(urls)
    clear_url_caches()


@pytest.mark.usefixtures("production")
def test_production_has_no_such_address(api: APIClient) -> None:
    paths = ["/test/shipments", "/test/shipments/1/events", "/test/tickets/1/move"]

    assert [api.post(path, {}).status_code for path in paths] == [404, 404, 404]
    # The description is generated from these addresses.
    assert served() & {"test/shipments"} == set()
    assert "company/tickets" in served()


def test_the_test_environment_has(api: APIClient) -> None:
    assert "test/shipments" in served()


def served() -> set[str]:
    return {
        str(leaf.pattern)
        for each in get_resolver().url_patterns
        if isinstance(each, URLResolver)
        for leaf in each.url_patterns
    }
