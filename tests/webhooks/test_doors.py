"""The corpus of target URLs against the API's endpoints: only good ones are accepted."""

import json

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from deliveries.http.answers import Reply
from deliveries.on_demand import sample_delivery
from tests import builders as build
from tests.corpora import ssrf_urls
from webhooks.models import Webhook

# Operations that accept a URL, with the member of their body.
DOORS = {("registerWebhook", "url"), ("changeWebhook", "url"), ("testWebhook", "webhook_url")}


def body(url: str, name: str = "url", **more: str) -> dict[str, str]:
    # ASCII, because the corpus holds half a surrogate pair, which no other encoding can express.
    return {"data": json.dumps({name: url, **more}), "content_type": "application/json"}


def test_registering_takes_the_good_and_refuses_the_bad(api: APIClient) -> None:
    wrong = []
    for row in ssrf_urls():
        answer = api.post("/webhooks", **body(row.url))
        # A name is resolved only when a delivery connects.
        may_pass = row.good or row.answers != "-"
        if answer.status_code != (200 if may_pass else 400):
            wrong.append((row, answer.status_code))

    assert wrong == []
    assert {webhook.url for webhook in Webhook.objects.all()} == {
        row.url for row in ssrf_urls() if row.good or row.answers != "-"
    }


def test_changing_takes_the_good_and_refuses_the_bad(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    wrong = []
    for row in ssrf_urls():
        before = Webhook.objects.get().url
        answer = api.put(f"/webhooks/{webhook.pk}", **body(row.url))
        may_pass = row.good or row.answers != "-"
        after = row.url if may_pass else before
        if (answer.status_code == 200) != may_pass or Webhook.objects.get().url != after:
            wrong.append((row, answer.status_code))

    assert wrong == []


def test_a_test_send_goes_to_the_good_and_not_to_the_bad(
    api: APIClient, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "send": 10**9}
    urls = []

    def send_one(request: sample_delivery.Request, *_: object, **__: object) -> Reply:
        urls.append(request.url)
        return Reply(None, 200, None, "", b"", 12, None)

    monkeypatch.setattr(sample_delivery, "send_one", send_one)
    allowed = [row for row in ssrf_urls() if row.good or row.answers != "-"][:10]
    wrong = []
    for row in [*allowed, *(row for row in ssrf_urls() if not row.good and row.answers == "-")]:
        answer = api.post("/ship/webhooktest/", **body(row.url, "webhook_url", tracking_number="T"))
        if answer.status_code != (200 if row in allowed else 400):
            wrong.append((row, answer.status_code))

    assert wrong == []
    assert urls == [row.url for row in allowed]
