import re
from base64 import b64encode

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from tests import builders as build
from webhooks.models import Webhook

URL = "https://hooks.example.com/in"


def test_answers_as_the_interface_says(api: APIClient, company: Company) -> None:
    answer = api.post("/webhooks", {"type_id": 5, "url": URL, "active": 0})

    webhook = Webhook.objects.get(company=company)
    assert answer.status_code == 200
    assert answer.json() == {
        "meta": "webhook_created",
        "data": {
            "id": webhook.pk,
            "type": "surcharge",
            "url": URL,
            "active": 0,
            "secret": webhook.secret,
            "standard_secret": f"whsec_{b64encode(webhook.secret.encode()).decode()}",
        },
    }
    assert re.fullmatch("[0-9a-f]{64}", webhook.secret)


def test_takes_a_url_alone_for_an_active_signed_type(api: APIClient) -> None:
    data = api.post("/webhooks", {"url": URL}).json()["data"]

    assert (data["type"], data["active"], len(data["secret"])) == ("tracking.simple", 1, 64)


@pytest.mark.parametrize("type_id", [1, 2])
def test_gives_legacy_types_no_secret(api: APIClient, type_id: int) -> None:
    data = api.post("/webhooks", {"type_id": type_id, "url": URL}).json()["data"]

    assert "secret" not in data
    assert Webhook.objects.get().secret is None


def test_keeps_secrets_encrypted(api: APIClient) -> None:
    data = api.post("/webhooks", {"url": URL, "auth_token": "tok-123"}).json()["data"]
    raw = Webhook.objects.extra(select={"s": "secret", "t": "auth_token"}).values("s", "t").get()

    assert data["secret"] not in raw["s"]
    assert "tok-123" not in raw["t"]
    assert Webhook.objects.get().auth_token == "tok-123"


@pytest.mark.parametrize("type_id", [0, -1, 60, 99])
def test_refuses_types_it_does_not_know(api: APIClient, type_id: int) -> None:
    answer = api.post("/webhooks", {"type_id": type_id, "url": URL})

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "type_id"
    assert not Webhook.objects.exists()


@pytest.mark.parametrize("token", ["", "two words", "tab\t", "é", "a" * 256, "x\r\ny: z"])
def test_refuses_delivery_tokens_that_no_header_can_carry(api: APIClient, token: str) -> None:
    answer = api.post("/webhooks", {"url": URL, "auth_token": token})

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "auth_token"
    assert not Webhook.objects.exists()


def test_lists_the_catalogue(api: APIClient) -> None:
    types = api.get("/webhook-types").json()

    assert [(each["id"], each["name"]) for each in types] == [
        (1, "onShipmentStatusUpdate"),
        (2, "statusUpdateWithEcommerceInfo"),
        (3, "tracking.simple"),
        (4, "ecommerceTracking"),
        (5, "surcharge"),
        (6, "ticket.updated"),
    ], "add what is new, here and to docs/api.md"
    assert all(set(each) == {"id", "name", "description"} for each in types)


def test_stream_of_a_new_webhook_begins_after_what_was_before_it(
    api: APIClient, company: Company, birch: Company
) -> None:
    build.webhook(birch)
    publishing.publish([build.news(birch)])
    before = publishing.newest_number()

    api.post("/webhooks", {"url": URL})

    assert Webhook.objects.get(company=company).begins_after == before > 0
