"""The headers of Standard Webhooks next to the interface's own, verified by the public package."""

from base64 import b64decode
from collections.abc import Mapping
from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from companies.models import Company
from deliveries import publishing
from tests import builders as build
from tests.sending import deliver
from tools.faults.receiver import Receiver
from webhooks.api.views import standard_secret
from webhooks.models import Webhook
from webhooks.targets import Policy

NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")
BODY = '{"a":"León"}'.encode()


def standard(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name.lower() in NAMES}


def is_accepted(secret: str, headers: Mapping[str, str], body: bytes = BODY) -> bool:
    try:
        Verifier(secret).verify(body.decode(), standard(headers))
    except WebhookVerificationError:
        return False
    return True


def test_a_delivery_is_accepted_by_the_public_package(
    api: APIClient, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    body = {"url": receiver.url, "standard_headers": 1}
    hook = api.post("/webhooks", body).json()["data"]
    publishing.publish([build.news(company, body=BODY)])

    deliver(loopback)

    (received,) = receiver.log
    headers = received.headers
    assert is_accepted(hook["standard_secret"], headers, received.body)
    assert not is_accepted(hook["standard_secret"], headers, received.body + b" ")
    assert headers["webhook-id"] == headers["X-Webhook-Id"]
    assert headers["X-Webhook-Signature"].startswith("v1=")
    assert int(headers["webhook-timestamp"]) == int(headers["X-Webhook-Timestamp"]) // 1000
    assert b64decode(hook["standard_secret"].removeprefix("whsec_")) == hook["secret"].encode()


def test_webhook_without_the_option_gets_none(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=receiver.url)
    publishing.publish([build.news(company)])

    deliver(loopback)

    assert standard(receiver.log[0].headers) == {}


def test_standard_headers_are_switched_on_and_off(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    address = f"/webhooks/{webhook.pk}"
    assert api.get(address).json()["data"]["standard_headers"] == 0

    for value in (1, 0):
        assert api.put(address, {"standard_headers": value}).json() == {"data": True}
        assert api.get(address).json()["data"]["standard_headers"] == value


@pytest.mark.parametrize("value", [True, "1", 2, None])
def test_the_wish_is_0_or_1(api: APIClient, company: Company, value: object) -> None:
    url = "https://hooks.example.com/in"
    for answer in (
        api.post("/webhooks", {"url": url, "standard_headers": value}),
        api.put(f"/webhooks/{build.webhook(company).pk}", {"standard_headers": value}),
    ):
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["field"] == "standard_headers"


def test_unsigned_types_cannot_have_them(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company, type_id=1)
    url = "https://hooks.example.com/other"
    for answer in (
        api.post("/webhooks", {"type_id": 1, "url": url, "standard_headers": 1}),
        api.put(f"/webhooks/{webhook.pk}", {"standard_headers": 1, "active": 0}),
    ):
        assert answer.status_code == 400
        assert answer.json()["errors"] == [
            {
                "field": "standard_headers",
                "message": "Webhooks of type onShipmentStatusUpdate are not signed.",
                "code": "webhook_not_signed",
            }
        ]
    webhook.refresh_from_db()
    assert webhook.active
    assert api.post("/webhooks", {"type_id": 1, "url": url}).status_code == 200


def test_a_rotation_has_one_signature_at_a_time(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company, url="", standard_headers=True, secret="5e" * 32)
    publishing.publish([build.news(company, body=BODY)])
    rotated = api.post(f"/webhooks/{webhook.pk}/secret", {"activates_in": 3600}).json()["data"]
    old = standard_secret(webhook.secret)

    def signed_by() -> list[bool]:
        (event,) = api.get(f"/webhooks/{webhook.pk}/events").json()["data"]
        assert " " not in event["headers"]["webhook-signature"]
        return [
            is_accepted(secret, event["headers"], event["body"].encode())
            for secret in (old, rotated["standard_secret"])
        ]

    assert signed_by() == [True, False]
    past = timezone.now() - timedelta(seconds=1)
    Webhook.objects.filter(pk=webhook.pk).update(next_secret_at=past)
    assert signed_by() == [False, True]


def test_a_test_request_carries_them_and_its_twin_is_refused(
    api: APIClient, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    hook = api.post("/webhooks", {"url": receiver.url, "standard_headers": 1}).json()["data"]

    api.post(f"/webhooks/{hook['id']}/test")

    accepted = [
        is_accepted(hook["standard_secret"], each.headers, each.body) for each in receiver.log
    ]
    assert accepted == [True, False]
