from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from deliveries.models import Health
from tests import builders as build
from tests.keys import lose_keys
from webhooks import services
from webhooks.models import Webhook

NEW = "https://new.example.com/in"


def test_changes_url_and_active_alone_or_together(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)

    for body in ({"url": NEW}, {"active": 0}, {"url": NEW, "active": 1}):
        answer = api.put(f"/webhooks/{webhook.pk}", body)
        assert (answer.status_code, answer.json()) == (200, {"data": True})
        webhook.refresh_from_db()
        assert {"url": webhook.url, "active": int(webhook.active)}.items() >= body.items()


def test_sets_and_removes_the_delivery_token(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    api.put(f"/webhooks/{webhook.pk}", {"auth_token": "tok-123456"})

    assert api.get("/webhooks").json()["data"][0]["auth_token"] == "…3456"

    api.put(f"/webhooks/{webhook.pk}", {"auth_token": None})

    assert api.get("/webhooks").json()["data"][0]["auth_token"] is None


@pytest.mark.parametrize(
    "body",
    [{}, [], None, {"url": ""}, {"url": NEW, "active": 9}, {"active": 1, "type_id": 3}, {"id": 4}],
)
def test_applies_all_or_nothing(api: APIClient, company: Company, body: object) -> None:
    webhook = build.webhook(company)

    answer = api.put(f"/webhooks/{webhook.pk}", body)

    assert answer.status_code == 400
    before = (webhook.url, webhook.active, webhook.updated_at)
    webhook.refresh_from_db()
    assert (webhook.url, webhook.active, webhook.updated_at) == before


@pytest.mark.parametrize("body", [{"url": NEW}, {"url": "http://bad.example.com"}, {}])
def test_answers_a_foreign_webhook_as_a_missing_one(
    api: APIClient, birch: Company, body: dict
) -> None:
    theirs = build.webhook(birch)

    foreign = api.put(f"/webhooks/{theirs.pk}", body)
    missing = api.put(f"/webhooks/{theirs.pk + 1000}", body)

    assert foreign.status_code == missing.status_code == 404
    assert foreign.content == missing.content
    theirs.refresh_from_db()
    assert theirs.url != NEW


@pytest.mark.parametrize(
    ("method", "path"), [("get", ""), ("delete", ""), ("post", "/secret")], ids=str
)
def test_every_other_way_to_a_foreign_webhook_is_closed_too(
    api: APIClient, birch: Company, method: str, path: str
) -> None:
    theirs = build.webhook(birch)
    secret = theirs.secret

    foreign = getattr(api, method)(f"/webhooks/{theirs.pk}{path}")
    missing = getattr(api, method)(f"/webhooks/{theirs.pk + 1000}{path}")

    assert foreign.status_code == missing.status_code == 404
    assert foreign.content == missing.content
    theirs.refresh_from_db()
    assert (theirs.deleted_at, theirs.next_secret, theirs.secret) == (None, None, secret)


def test_paused_webhook_keeps_its_reason(company: Company) -> None:
    webhook = build.webhook(company)

    first = services.pause(webhook.pk, "The receiver answered 410 Gone.")
    second = services.pause(webhook.pk, "Maintenance.")

    webhook.refresh_from_db()
    assert (first, second) == (True, False)
    assert webhook.paused_reason == "The receiver answered 410 Gone."


def test_resuming_takes_away_the_reason_of_the_pause(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    services.pause(webhook.pk, "The receiver answered 410 Gone.")
    paused = api.get(f"/webhooks/{webhook.pk}").json()["data"]
    assert (paused["active"], paused["paused_reason"]) == (0, "The receiver answered 410 Gone.")

    api.put(f"/webhooks/{webhook.pk}", {"active": 1})

    resumed = api.get(f"/webhooks/{webhook.pk}").json()["data"]
    assert (resumed["active"], resumed["paused_reason"]) == (1, None)
    assert Webhook.objects.get().resumed_at is not None


def test_deleted_webhook_disappears(api: APIClient, birch_api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)

    assert birch_api.delete(f"/webhooks/{webhook.pk}").status_code == 404
    assert api.delete(f"/webhooks/{webhook.pk}").json() == {"data": True}

    assert api.get("/webhooks").json()["data"] == []
    assert api.get(f"/webhooks/{webhook.pk}").status_code == 404
    assert api.put(f"/webhooks/{webhook.pk}", {"active": 1}).status_code == 404
    assert api.delete(f"/webhooks/{webhook.pk}").status_code == 404


def test_lists_the_company_s_own_and_no_secret(
    api: APIClient, company: Company, birch: Company
) -> None:
    mine = build.webhook(company, auth_token="hush-hush")
    build.webhook(birch)

    answer = api.get("/webhooks")

    assert [each["id"] for each in answer.json()["data"]] == [mine.pk]
    assert answer.json()["data"][0]["type"] == "tracking.simple"
    assert mine.secret not in answer.content.decode()
    assert "hush-hush" not in answer.content.decode()


def test_a_rotated_secret_signs_later(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    old = webhook.secret

    new = api.post(f"/webhooks/{webhook.pk}/secret", {"activates_in": 60}).json()["data"]["secret"]

    webhook.refresh_from_db()
    now = timezone.now()
    assert webhook.signing_secret(now) == old
    assert webhook.signing_secret(now + timedelta(seconds=61)) == new != old


def test_new_secret_signs_from_its_instant_on(company: Company) -> None:
    now = timezone.now()
    webhook = build.webhook(company, next_secret="6e" * 32, next_secret_at=now)

    assert webhook.signing_secret(now - timedelta(microseconds=1)) == "5e" * 32
    assert webhook.signing_secret(now) == "6e" * 32


def test_new_secret_signs_at_once_where_no_key_opens_the_old_one(
    api: APIClient, company: Company, settings: Settings
) -> None:
    webhook = build.webhook(company)
    lose_keys(settings)

    answer = api.post(f"/webhooks/{webhook.pk}/secret", {"activates_in": 86400}).json()["data"]

    webhook.refresh_from_db()
    assert webhook.signing_secret(timezone.now()) == webhook.secret == answer["secret"]


@pytest.mark.parametrize("lost", [{"auth_token": "hush-hush", "type_id": 1}, {"auth_token": None}])
def test_webhook_is_readable_if_its_keys_open_token_and_secret(
    company: Company, settings: Settings, lost: dict[str, Any]
) -> None:
    webhook, now = build.webhook(company, **lost), timezone.now()
    assert webhook.is_readable(now)

    lose_keys(settings)

    assert not Webhook.objects.get(pk=webhook.pk).is_readable(now)


def test_deleted_webhook_is_inactive_and_another_is_not(api: APIClient, company: Company) -> None:
    webhook, other = (build.webhook(company) for _ in range(2))

    assert api.delete(f"/webhooks/{webhook.pk}").status_code == 200

    webhook.refresh_from_db()
    other.refresh_from_db()
    assert (webhook.active, webhook.deleted_at is None) == (False, False)
    assert (other.active, other.deleted_at) == (True, None)


def test_a_secret_rotated_at_once_signs_at_once(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)

    first = api.post(f"/webhooks/{webhook.pk}/secret", {"activates_in": 0}).json()["data"]
    second = api.post(f"/webhooks/{webhook.pk}/secret", {}).json()["data"]

    webhook.refresh_from_db()
    assert webhook.signing_secret(timezone.now()) == first["secret"] != second["secret"]


def test_unsigned_webhooks_have_no_secret_to_rotate(api: APIClient, company: Company) -> None:
    legacy = build.webhook(company, type_id=1)

    answer = api.post(f"/webhooks/{legacy.pk}/secret", {})

    assert answer.status_code == 422
    legacy.refresh_from_db()
    assert legacy.secret is None


def test_active_webhook_that_is_made_active_again_keeps_its_rest(
    api: APIClient, company: Company
) -> None:
    webhook = build.webhook(company)
    later = timezone.now() + timedelta(minutes=4)
    Health.objects.create(webhook=webhook, failures=5, resting_until=later)

    assert api.put(f"/webhooks/{webhook.pk}", {"active": 1}).status_code == 200

    health = Health.objects.get()
    assert (health.resting_until, health.catch_up_before) == (later, None)


def test_resumed_webhook_ends_its_rest(company: Company) -> None:
    webhook = build.webhook(company, active=False, paused_reason="It was gone.")
    later = timezone.now() + timedelta(minutes=4)
    Health.objects.create(webhook=webhook, failures=5, resting_until=later)

    assert services.resume(webhook.pk)
    assert not services.resume(webhook.pk)

    webhook.refresh_from_db()
    assert (webhook.active, webhook.paused_reason) == (True, "")
    assert webhook.resumed_at is not None
    health = Health.objects.get()
    assert health.resting_until is None
    assert health.catch_up_before is not None


def test_resumed_company_resumes_its_active_webhooks_alone(
    company: Company, birch: Company
) -> None:
    active, other = (build.webhook(company, url=f"{NEW}/{number}") for number in (1, 2))
    paused = build.webhook(company, url=f"{NEW}/3", active=False)
    fetched = build.webhook(company, url="")
    deleted = build.webhook(company, url=f"{NEW}/4", deleted_at=timezone.now())
    elsewhere = build.webhook(birch)

    services.resume_company(company.pk)

    resumed = set(Webhook.objects.exclude(resumed_at=None).values_list("pk", flat=True))
    assert resumed == {active.pk, other.pk, fetched.pk}
    caught_up = set(Health.objects.values_list("webhook_id", flat=True))
    assert caught_up == {active.pk, other.pk}
    assert not {paused.pk, deleted.pk, elsewhere.pk} & resumed


def test_pause_keeps_the_reason_of_the_first_and_spares_deleted_webhooks(company: Company) -> None:
    one = build.webhook(company)
    deleted = build.webhook(company, url=NEW, deleted_at=timezone.now())

    assert services.pause(one.pk, "x" * 400)
    assert not services.pause(one.pk, "again")
    assert not services.pause(deleted.pk, "gone")

    one.refresh_from_db()
    assert (one.active, one.paused_reason) == (False, "x" * 300)
