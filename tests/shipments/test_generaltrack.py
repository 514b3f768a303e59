from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from companies.models import Company
from shipments.models import Shipment
from tests.shipments.feeding import Fed, shipment, tracking

Feed = Callable[..., Fed]

PATH = "/ship/generaltrack/"


def ask(api: APIClient, *numbers: Any) -> Any:
    return api.post(PATH, {"trackingNumbers": numbers}).json()


def test_answers_a_shipment_with_its_history_newest_first(
    api: APIClient, company: Company, feed: Feed
) -> None:
    feed(
        shipment(5, company.pk, carrier_id=9, occurred_at="2026-01-01T08:00:00Z"),
        tracking(5, "Delivered", occurred_at="2026-01-04T09:30:00-06:00", location="León"),
        tracking(5, "Shipped", occurred_at="2026-01-02T00:00:00Z", status_description="Left"),
        tracking(5, "Delivered", occurred_at="2026-01-05T00:00:00Z", status_description="At door"),
    )

    answer = api.post(PATH, {"trackingNumbers": ["TEST0000005"]})

    assert answer.status_code == 200
    assert answer.json() == {
        "meta": "generaltrack",
        "data": [
            {
                "company": "Acme",
                "companyId": company.pk,
                "carrier": "acme",
                "carrierId": 9,
                "shipmentId": 5,
                "trackingNumber": "TEST0000005",
                "status": "Delivered",
                "createdAt": "2026-01-01 08:00:00",
                "shippedAt": "2026-01-02 00:00:00",
                "deliveredAt": "2026-01-05 00:00:00",
                "eventHistory": [
                    {"timestamp": "2026-01-05 00:00:00", "location": "", "description": "At door"},
                    {
                        "timestamp": "2026-01-04 15:30:00",
                        "location": "León",
                        "description": "Delivered",
                    },
                    {"timestamp": "2026-01-02 00:00:00", "location": "", "description": "Left"},
                ],
            }
        ],
    }


def test_answers_what_is_not_known_yet_with_null_or_zero(
    api: APIClient, company: Company, feed: Feed
) -> None:
    feed(shipment(5, company.pk))

    (row,) = ask(api, "TEST0000005")["data"]

    assert (row["status"], row["eventHistory"]) == ("Created", [])
    assert (row["carrierId"], row["shippedAt"], row["deliveredAt"]) == (0, None, None)


def test_answers_in_the_order_asked_and_each_number_once(
    api: APIClient, company: Company, feed: Feed
) -> None:
    feed(*[shipment(each, company.pk) for each in (1, 2, 3)])
    feed(shipment(4, company.pk, tracking_number="TEST0000002"))

    rows = ask(api, "TEST0000003", "nobody", "TEST0000002", "TEST0000003", "test0000001")["data"]

    assert [each["shipmentId"] for each in rows] == [3, 2, 4, 1]


def test_leaves_out_another_companys(
    api: APIClient, birch_api: APIClient, birch: Company, feed: Feed
) -> None:
    feed(shipment(5, birch.pk))

    assert ask(api, "TEST0000005") == {"meta": "generaltrack", "data": []}
    assert len(ask(birch_api, "TEST0000005")["data"]) == 1


def test_asks_the_database_as_often_for_fifty_numbers_as_for_one(
    api: APIClient, company: Company, feed: Feed
) -> None:
    ids = range(1, 51)
    feed(*[shipment(each, company.pk) for each in ids], *[tracking(each, "Lost") for each in ids])
    ask(api, "TEST0000001")

    with CaptureQueriesContext(connection) as one:
        assert len(ask(api, "TEST0000001")["data"]) == 1
    with CaptureQueriesContext(connection) as fifty:
        assert len(ask(api, *[f"TEST{each:07}" for each in ids])["data"]) == 50

    assert len(one) == len(fifty) <= 3


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "trackingNumbers"),
        ({"trackingNumbers": None}, "trackingNumbers"),
        ({"trackingNumbers": []}, "trackingNumbers"),
        ({"trackingNumbers": "TEST0000005"}, "trackingNumbers"),
        ({"trackingNumbers": {"0": "TEST0000005"}}, "trackingNumbers"),
        ({"trackingNumbers": ["x"] * 51}, "trackingNumbers"),
        ({"trackingNumbers": ["x", 5]}, "trackingNumbers[1]"),
        ({"trackingNumbers": ["x", None]}, "trackingNumbers[1]"),
        ({"trackingNumbers": [""]}, "trackingNumbers[0]"),
        ({"trackingNumbers": ["x" * 101]}, "trackingNumbers[0]"),
        ({"trackingNumbers": ["x"], "page": 1}, "page"),
        ([], ""),
    ],
)
def test_refuses_a_wrong_body_in_the_shape_of_its_face(
    api: APIClient, body: Any, field: str
) -> None:
    answer = api.post(PATH, body)

    assert answer.status_code == 400
    error = answer.json()["error"]
    assert answer.json()["meta"] == "error"
    assert (error["code"], error["description"]) == (400, "Bad Request")
    assert [wrong["field"] for wrong in error["errors"]] == [field]


def test_wants_a_token_a_post_and_the_slash(api: APIClient, company: Company) -> None:
    nobody = APIClient().post(PATH, {"trackingNumbers": ["x"]}, format="json")

    assert nobody.status_code == 401
    assert nobody.headers["WWW-Authenticate"] == "Bearer"
    assert nobody.json()["error"]["code"] == 401
    assert api.get(PATH).status_code == 405
    assert api.post(PATH.rstrip("/"), {"trackingNumbers": ["x"]}).json()["error"]["code"] == 404


def test_counts_as_reading(api: APIClient, company: Company, settings: Any) -> None:
    answer = api.post(PATH, {"trackingNumbers": ["x"]})

    assert answer.headers["RateLimit-Limit"] == str(settings.RATE_LIMITS["read"])


def test_shows_times_in_utc_whatever_zone_they_came_in(api: APIClient, company: Company) -> None:
    Shipment.objects.create(
        id=5,
        company=company,
        tracking_number="X",
        carrier_name="acme",
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    )

    assert ask(api, "X")["data"][0]["createdAt"] == "2026-01-02 03:04:05"
