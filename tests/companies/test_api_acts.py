"""API calls that change where events go are audited with the token that they used."""

import json
import logging
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from companies import services as companies
from companies.models import AuditEntry, Company
from companies.tokens import PREFIX_LENGTH
from deliveries import publishing
from deliveries.models import OPEN, Delivery, State
from tests import builders as build
from webhooks import services
from webhooks.models import Webhook

ADDRESS = "https://hooks.example.com/one"


def caller(company: Company) -> tuple[APIClient, str]:
    """Return a client with a token of its own, and the token's prefix."""
    token = companies.issue_token(company.pk)
    return APIClient(headers={"Authorization": f"Bearer {token}"}), token[:PREFIX_LENGTH]


def audit_of(token: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("audit", "--token", token, "--json", stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture
def other(company: Company) -> Company:
    """Create a company with two webhooks, and a second token of the first that is also used."""
    other = build.company("Other")
    for client, _ in (caller(other), caller(company)):
        for type_id in (1, 3):
            body = {"url": ADDRESS, "type_id": type_id}
            assert client.post("/webhooks", body, format="json").status_code == 200
    return other


def test_each_act_names_the_token_and_no_text_of_the_company(
    company: Company, other: Company
) -> None:
    client, prefix = caller(company)
    body = {"url": f"{ADDRESS}/two", "type_id": 3, "auth_token": "stranger"}
    answer = client.post("/webhooks", body, format="json", headers={"X-Request-Id": "Jane-Doe"})
    webhook = answer.json()["data"]["id"]
    client.put(f"/webhooks/{webhook}", {"active": 0, "url": f"{ADDRESS}/3"}, format="json")
    client.put(f"/webhooks/{webhook}", {"active": 1}, format="json")
    client.post(f"/webhooks/{webhook}/secret", {"activates_in": 60}, format="json")
    publishing.publish([build.news(company, type=3)])
    delivery = Delivery.objects.filter(webhook=webhook).get()
    client.post(f"/deliveries/{delivery.pk}/redeliver")
    since = {"since": "2026-01-01T00:00:00Z"}
    client.post(f"/webhooks/{webhook}/recover", since, format="json")
    client.delete(f"/webhooks/{webhook}")

    entries = audit_of(prefix)

    name = f"webhook {webhook}"
    assert [(one["act"], one["about"]) for one in reversed(entries)] == [
        ("register_webhook", name),
        ("change_webhook", name),
        ("change_webhook", name),
        ("rotate_secret", name),
        ("redeliver", f"delivery {delivery.pk}"),
        ("recover", name),
        ("delete_webhook", name),
    ]
    assert {(one["actor"], one["via"], one["company_id"]) for one in entries} == {
        ("company", "api", company.pk)
    }
    assert entries[-2]["details"] == {"token": prefix, "fields": "active url", "active": 0}
    assert entries[-1]["request_id"] is None
    text = json.dumps(entries)
    assert not any(word in text for word in ("stranger", "example.com", "Jane"))


def test_the_beginning_of_a_token_or_all_of_it_finds_the_same(company: Company) -> None:
    token = companies.issue_token(company.pk)
    client = APIClient(headers={"Authorization": f"Bearer {token}"})
    client.post("/webhooks", {"url": ADDRESS, "type_id": 3}, format="json")

    assert len(audit_of(token)) == len(audit_of(token[:11])) == 1
    assert audit_of("live_nothing") == []


def test_refusals_reads_and_repeated_answers_are_not_audited(company: Company) -> None:
    client, prefix = caller(company)
    body = {"url": ADDRESS, "type_id": 3}
    for _ in range(2):
        client.post("/webhooks", body, format="json", headers={"Idempotency-Key": "once"})
    assert client.post("/webhooks", body, format="json").status_code == 409
    assert client.put("/webhooks/999", {"active": 0}, format="json").status_code == 404
    client.get("/webhooks")

    assert [one["act"] for one in audit_of(prefix)] == ["register_webhook"]


def test_a_bound_on_repeats_leaves_no_entry(company: Company) -> None:
    client, prefix = caller(company)
    webhook = build.webhook(company)
    publishing.publish([build.news(company)])
    today = timezone.now().date()
    Delivery.objects.update(asked_on=today, asked_times=100, state=State.WAITING, archived_on=OPEN)
    delivery = Delivery.objects.get(webhook=webhook)

    assert client.post(f"/deliveries/{delivery.pk}/redeliver").status_code == 429
    assert audit_of(prefix) == []


def test_an_act_of_the_desk_is_not_the_tokens_that_was_used_before(
    company: Company, admin_client: Client
) -> None:
    """Send requests of one thread, one after the other, with the same id."""
    client, _ = caller(company)
    webhook = build.webhook(company, active=False)
    client.get("/webhooks", headers={"X-Request-Id": "same"})
    before = AuditEntry.objects.filter(via="api").count()

    admin_client.get("/healthz", headers={"X-Request-Id": "same"})
    services.resume(webhook.pk)

    assert AuditEntry.objects.filter(via="api").count() == before
    assert Webhook.objects.get(pk=webhook.pk).active


def test_the_access_log_has_the_prefix_and_never_the_token(
    company: Company, caplog: pytest.LogCaptureFixture
) -> None:
    client, prefix = caller(company)
    with caplog.at_level(logging.INFO, logger="parceldesk.access"):
        client.get("/webhooks")
        APIClient(headers={"Authorization": "Bearer live_unknown-and-secret"}).get("/webhooks")

    authenticated, anonymous = [one for one in caplog.records if one.name == "parceldesk.access"]
    assert f", company {company.pk}, token {prefix}, from " in authenticated.getMessage()
    assert authenticated.__dict__["token"] == prefix
    assert ", company -, token -, from " in anonymous.getMessage()
