"""A key of FIELD_KEYS is lost: a company can still list its webhooks, and mend them."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.models import Attempt, Delivery, Health, State
from tests import builders as build
from tests.keys import lose_keys
from tests.sending import deliver, pass_time
from tools.faults.receiver import Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy


@pytest.fixture
def lost(company: Company, receiver: Receiver, settings: Settings) -> Webhook:
    """Create a webhook with a secret and a token that no key opens."""
    webhook = build.webhook(company, url=receiver.url, auth_token="hush-hush")
    lose_keys(settings)
    return webhook


def test_it_stays_in_the_list_without_its_token_s_last_characters(
    api: APIClient, lost: Webhook
) -> None:
    (listed,) = api.get("/webhooks").json()["data"]

    assert (listed["id"], listed["auth_token"]) == (lost.pk, "…")
    assert api.get(f"/webhooks/{lost.pk}").json()["data"] == listed


@pytest.mark.parametrize(
    "change", [{"active": 0}, {"auth_token": "new-token"}, {"auth_token": None}]
)
def test_unreadable_webhook_can_be_changed(
    api: APIClient, lost: Webhook, change: dict[str, object]
) -> None:
    answer = api.put(f"/webhooks/{lost.pk}", change)

    assert (answer.status_code, answer.json()) == (200, {"data": True})
    if "auth_token" in change:
        assert Webhook.objects.get(pk=lost.pk).auth_token == change["auth_token"]


def test_unreadable_webhook_can_be_deleted(api: APIClient, lost: Webhook) -> None:
    assert api.delete(f"/webhooks/{lost.pk}").json() == {"data": True}
    assert api.get("/webhooks").json()["data"] == []


def test_a_new_secret_signs_at_once_where_the_old_one_cannot(api: APIClient, lost: Webhook) -> None:
    data = api.post(f"/webhooks/{lost.pk}/secret", {"activates_in": 86400}).json()["data"]

    webhook = Webhook.objects.get(pk=lost.pk)
    assert webhook.signing_secret(timezone.now()) == data["secret"]
    assert webhook.secret == data["secret"]


def test_a_test_delivery_says_whose_fault_it_is(
    api: APIClient, lost: Webhook, receiver: Receiver, loopback: Policy
) -> None:
    body = {"tracking_number": "T-1", "webhook_url": lost.url}

    answer = api.post("/ship/webhooktest/", body)

    assert (answer.status_code, answer.json()["data"]["delivered"]) == (200, False)
    assert "auth_token" in answer.json()["data"]["error"]
    assert receiver.log == []


def test_its_deliveries_wait_and_burn_nothing(
    api: APIClient, company: Company, lost: Webhook, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, type_id=5, url=f"{receiver.url}/well")
    publishing.publish([build.news(company, n) for n in range(3)])
    publishing.publish([build.news(company, 1, type=5)])

    assert deliver(loopback) == 1
    assert deliver(loopback) == 0

    assert [received.path for received in receiver.log] == ["/well"]
    waiting = Delivery.objects.open()
    assert set(waiting.values_list("webhook", "attempts", "step", "crashes", "claimed_by")) == {
        (lost.pk, 0, 0, 0, None)
    }
    assert waiting.count() == 3
    assert not Attempt.objects.filter(delivery__webhook=lost).exists()
    health = Health.objects.get(webhook=lost)
    assert (health.failures, health.rests, health.failing_since) == (0, 0, None)
    report = api.get(f"/webhooks/{lost.pk}/health").json()["data"]
    assert (report["condition"], report["failures_in_a_row"]) == ("unreadable", 0)


@pytest.mark.parametrize("cure", ["the key is back", "the company sets new ones"])
def test_its_deliveries_go_out_once_it_is_mended(
    api: APIClient,
    company: Company,
    receiver: Receiver,
    loopback: Policy,
    settings: Settings,
    cure: str,
) -> None:
    webhook = build.webhook(company, url=receiver.url, auth_token="hush-hush")
    keys = lose_keys(settings)
    publishing.publish([build.news(company, n) for n in range(3)])
    deliver(loopback)

    if cure == "the key is back":
        settings.FIELD_KEYS = [*settings.FIELD_KEYS, *keys]
    else:
        api.put(f"/webhooks/{webhook.pk}", {"auth_token": "new-token"})
        api.post(f"/webhooks/{webhook.pk}/secret")
    pass_time(timedelta(seconds=31))
    deliver(loopback)

    assert Delivery.objects.filter(state=State.DELIVERED).count() == 3
    sent_tokens = {received.headers["Authorization"] for received in receiver.log}
    assert sent_tokens == {"Bearer hush-hush" if cure == "the key is back" else "Bearer new-token"}
