"""Rows whose event type is not registered, as after an app was removed: shown, never a 500."""

import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.models import Attempt, Delivery, Health, State
from tests import builders as build
from tests.desk.test_claim_file import unpacked
from tests.sending import deliver
from tools.faults.receiver import Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy

UNKNOWN = 9


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def webhook(company: Company) -> Webhook:
    build.shipment(company, 7, tracking_number="TRACK7")
    webhook = build.webhook(company, UNKNOWN)
    publishing.publish([build.news(company, 7, type=UNKNOWN)])
    return webhook


def test_the_api_shows_them_by_number(api: APIClient, webhook: Webhook) -> None:
    delivery = Delivery.objects.get()
    (listed,) = api.get("/webhooks").json()["data"]
    one = api.get(f"/webhooks/{webhook.pk}").json()["data"]
    (logged,) = api.get(f"/webhooks/{webhook.pk}/deliveries").json()["data"]
    detail = api.get(f"/deliveries/{delivery.pk}").json()["data"]

    assert (listed["type"], one["type"]) == ("event 9", "event 9")
    assert (logged["event"], detail["event"]) == ("event 9", "event 9")


def test_the_api_changes_them_but_makes_no_secret(api: APIClient, webhook: Webhook) -> None:
    assert api.put(f"/webhooks/{webhook.pk}", {"active": 0}).status_code == 200
    refused = api.post(f"/webhooks/{webhook.pk}/secret", {})
    assert refused.status_code == 422
    assert refused.json()["message"] == "Webhooks of type event 9 are not signed."
    assert api.delete(f"/webhooks/{webhook.pk}").status_code == 200


def test_webhooktest_sends_the_default_type(
    api: APIClient, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, UNKNOWN, url=receiver.url)

    answer = api.post(
        "/ship/webhooktest/", {"tracking_number": "TRACK7", "webhook_url": receiver.url}
    )

    assert answer.status_code == 200
    assert json.loads(receiver.log[0].body)["type"] == "tracking.simple"


def test_their_deliveries_wait_and_hold_up_no_other(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, UNKNOWN, url=f"{receiver.url}/unknown")
    build.webhook(company, url=f"{receiver.url}/known")
    publishing.publish([build.news(company, type=UNKNOWN), build.news(company)])

    assert deliver(loopback) == 2

    assert [received.path for received in receiver.log] == ["/known"]
    attempt = Attempt.objects.get(error="internal")
    assert attempt.detail == "No event type 9 is registered."
    waiting = Delivery.objects.open().get()
    assert (waiting.state, waiting.pk) == (State.WAITING, attempt.delivery_id)


def test_the_desk_shows_them_by_number(company: Company, webhook: Webhook) -> None:
    desk = Client()
    desk.force_login(User.objects.create_superuser("root"))
    ticket = build.ticket(company, type_id=4, shipment_id=7)
    Health.objects.create(webhook=webhook, failures=3, failing_since=timezone.now())
    delivery = Delivery.objects.get()
    pages = [
        "/admin/webhooks/webhook/",
        f"/admin/webhooks/webhook/{webhook.pk}/change/",
        "/admin/webhooks/webhook/sick/",
        f"/admin/deliveries/delivery/{delivery.pk}/change/",
        "/admin/tickets/ticket/events/?tracking_number=TRACK7",
        f"/admin/tickets/ticket/{ticket.pk}/change/",
    ]

    without = [page for page in pages if "event 9" not in desk.get(page).content.decode()]
    evidence = desk.post("/admin/tickets/ticket/events/7/evidence/")

    assert without == []
    assert unpacked(evidence)
