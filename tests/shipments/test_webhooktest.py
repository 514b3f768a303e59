import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import connection
from rest_framework.test import APIClient

from companies.models import Company
from deliveries.models import Delivery, Event
from shipments.event_types.status import ECOMMERCE_TRACKING
from shipments.event_types.surcharge import SURCHARGE
from tests import builders as build
from tests.conftest import signed_in
from tests.deliveries.hostile import Receiver, good, receiver
from tests.shipments.feeding import ORDER, Fed, shipment, surcharge, tracking
from tests.shipments.trying import tried

Feed = Callable[..., Fed]

pytestmark = pytest.mark.usefixtures("loopback")


def head_and_body(running: Receiver) -> tuple[list[str], dict[str, Any]]:
    (request,) = running.requests
    head, _, body = request.decode().partition("\r\n\r\n")
    return head.split("\r\n"), json.loads(body)


def test_sends_the_shipments_real_data_with_these_headers_and_no_other(
    api: APIClient, company: Company, feed: Feed, listening: Receiver
) -> None:
    feed(shipment(5, company.pk), tracking(5, "Shipped", location="León", status_description="Up"))
    build.webhook(company, url=listening.url, auth_token="t0ken")

    answer = tried(api, listening.url)

    duration = answer.pop("duration_ms")
    assert answer == {"delivered": True, "status": 200, "error": None}
    assert type(duration) is int
    assert 0 <= duration < 5000
    head, body = head_and_body(listening)
    length = len(listening.requests[0].partition(b"\r\n\r\n")[2])
    assert head[0] == "POST /hook HTTP/1.1"
    # The headers that HTTP needs, and the three of decision W24.
    assert sorted(head[1:]) == [
        "Accept-Encoding: identity",
        "Accept: */*",
        "Authorization: Bearer t0ken",
        f"Content-Length: {length}",
        "Content-Type: application/json",
        f"Host: 127.0.0.1:{listening.port}",
        "User-Agent: parceldesk/1.0.0",
    ]
    created_at = body.pop("created_at")
    assert len(created_at) == len("2026-01-02T00:00:00.000Z")
    assert body == {
        "type": "tracking.simple",
        "data": {
            "shipment_id": 5,
            "tracking_number": "TEST0000005",
            "carrier_name": "acme",
            "status": "shipped",
            "status_description": "Up",
            "location": "León",
        },
    }
    assert not Event.objects.exists()
    assert not Delivery.objects.exists()


def test_an_unregistered_url_gets_tracking_simple_without_authorization(
    api: APIClient, company: Company, birch: Company, listening: Receiver
) -> None:
    build.webhook(birch, SURCHARGE.id, url=listening.url, auth_token="birchs")
    build.webhook(company, url=listening.url + "/other", auth_token="others")
    build.webhook(company, url=listening.url, auth_token="gone", deleted_at="2026-01-01T00:00Z")

    assert tried(api, listening.url)["delivered"]

    head, body = head_and_body(listening)
    assert not [line for line in head if line.lower().startswith(("authorization", "x-"))]
    assert body["type"] == "tracking.simple"


@pytest.mark.parametrize(
    ("type_id", "expected"),
    [
        (1, {"carrierName": "sample", "trackingNumber": "NEW1", "status": "Delivered"}),
        (2, {"orderData": {"shopId": 1, "orderIdentifier": "1001"}}),
        (3, {"type": "tracking.simple", "data": {"tracking_number": "NEW1"}}),
        (4, {"type": "ecommerceTracking", "data": {"order_data": {"order_number": "1001"}}}),
        (5, {"type": "surcharge", "data": {"surcharge_data": {"amount": 10, "currency": "MXN"}}}),
        (6, {"type": "ticket.updated", "data": {"change": "moved", "tracking_number": "NEW1"}}),
    ],
)
def test_sends_the_type_that_is_registered_made_up_where_nothing_is_known(
    api: APIClient, company: Company, listening: Receiver, type_id: int, expected: dict
) -> None:
    build.webhook(company, type_id, url=listening.url)

    assert tried(api, listening.url, "NEW1")["delivered"]

    head, body = head_and_body(listening)
    assert not [line for line in head if line.lower().startswith("x-webhook")]
    assert holds(body, expected), body


def holds(body: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return all(name in body and holds(body[name], value) for name, value in part.items())
    return body == part


def test_sends_a_real_order_and_a_real_surcharge_where_there_is_one(
    api: APIClient, company: Company, feed: Feed
) -> None:
    feed(shipment(5, company.pk, order=ORDER), surcharge(31, 5, amount=7.25))

    bodies = {}
    for type_id in (ECOMMERCE_TRACKING.id, SURCHARGE.id):
        with receiver(good) as running:
            build.webhook(company, type_id, url=running.url)
            tried(api, running.url)
            bodies[type_id] = head_and_body(running)[1]

    assert bodies[4]["data"]["order_data"] == ORDER
    assert bodies[4]["data"]["status"] == "created"
    assert bodies[5]["data"]["surcharge_id"] == 31
    assert bodies[5]["data"]["surcharge_data"]["amount"] == 7.25


def test_never_sends_another_companys_data(
    birch_api: APIClient, company: Company, feed: Feed, listening: Receiver
) -> None:
    feed(shipment(5, company.pk, carrier_name="secret carrier"), tracking(5, "Lost"))

    tried(birch_api, listening.url)

    _, body = head_and_body(listening)
    assert body["data"]["carrier_name"] == "sample"
    assert body["data"]["shipment_id"] == 1
    assert b"secret" not in listening.requests[0]


def test_takes_the_active_webhook_of_several_then_the_newest(
    api: APIClient, company: Company, listening: Receiver
) -> None:
    for type_id, active in ((1, True), (5, True), (4, False)):
        build.webhook(company, type_id, url=listening.url, active=active)

    tried(api, listening.url)

    assert head_and_body(listening)[1]["type"] == "surcharge"


@pytest.mark.usefixtures("rows_to_keep")
def test_holds_no_transaction_while_the_receiver_makes_up_its_mind() -> None:
    api = signed_in(build.company())
    states: list[str] = []

    def look(visitor: Any) -> None:
        visitor.read_request()
        parameters = connection.get_connection_params()
        keep = ("host", "port", "user", "password", "dbname")
        options = {name: parameters[name] for name in keep if parameters.get(name)}
        with psycopg.connect(**options, autocommit=True) as other:
            rows = other.execute(
                "SELECT state FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend'"
            )
            states.extend(row[0] for row in rows)
        visitor.say(b"HTTP/1.1 204 No Content\r\n\r\n")

    with receiver(look) as running:
        assert tried(api, running.url)["delivered"]

    assert states
    assert set(states) == {"idle"}
