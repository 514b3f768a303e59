"""Cursors of events and deliveries are opaque, and valid for one company."""

import re
from datetime import timedelta

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.api.sealed_cursors import EPOCH
from deliveries import publishing
from deliveries.models import Event
from tests import builders as build
from tests.keys import new_key
from webhooks.models import Webhook

pytestmark = pytest.mark.django_db
LISTS = {"events": "after", "deliveries": "cursor"}


@pytest.fixture
def webhook(company: Company) -> Webhook:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, number) for number in range(1, 4)])
    return webhook


def cursor_of(api: APIClient, webhook: Webhook, name: str) -> str:
    answer = api.get(f"/webhooks/{webhook.pk}/{name}", {"limit": 1}).json()
    return str(answer["next_cursor"])


def answer_after(api: APIClient, webhook: Webhook, name: str, cursor: str) -> tuple[int, str]:
    answer = api.get(f"/webhooks/{webhook.pk}/{name}", {LISTS[name]: cursor, "limit": 1})
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_is_opaque_and_the_same_for_the_same_place(
    api: APIClient, webhook: Webhook, name: str
) -> None:
    cursor = cursor_of(api, webhook, name)

    assert re.fullmatch(r"[0-9A-Za-z_-]{43}", cursor)
    assert cursor_of(api, webhook, name) == cursor
    assert answer_after(api, webhook, name, cursor)[0] == 200
    assert all(str(number) not in cursor for number in Event.objects.values_list("pk") if number)


@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_of_another_company_is_refused(
    api: APIClient, birch_api: APIClient, birch: Company, webhook: Webhook, name: str
) -> None:
    theirs = build.webhook(birch)
    publishing.publish([build.news(birch, number) for number in (7, 8)])

    status, body = answer_after(api, webhook, name, cursor_of(birch_api, theirs, name))

    assert status == 400
    assert f'"field":"{LISTS[name]}"' in body
    assert "invalid_cursor" in body


@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_of_the_other_list_or_one_that_was_changed_is_refused(
    api: APIClient, webhook: Webhook, name: str
) -> None:
    (other,) = set(LISTS) - {name}
    cursor = cursor_of(api, webhook, name)
    changed = cursor[:-3] + ("AAA" if cursor[-3:] != "AAA" else "BBB")

    for wrong in (
        cursor_of(api, webhook, other),
        changed,
        "x" * 43,
        "!" * 43,
        "=" * 43,
        "\u00e9" * 43,
    ):
        assert answer_after(api, webhook, name, wrong)[0] == 400


def test_a_company_goes_on_with_the_cursor_at_another_webhook_of_its_own(
    api: APIClient, company: Company, webhook: Webhook
) -> None:
    another = build.webhook(company, url="https://hooks.example.com/two")

    assert answer_after(api, another, "events", cursor_of(api, webhook, "events"))[0] == 200


def test_cursors_that_companies_have_stored_go_on_working(api: APIClient, webhook: Webhook) -> None:
    first, second, third = Event.objects.order_by("pk")
    time = (first.created_at - EPOCH) // timedelta(microseconds=1)

    events = api.get(f"/webhooks/{webhook.pk}/events", {"after": f"{first.pk}-{time}"}).json()
    log = api.get(f"/webhooks/{webhook.pk}/deliveries", {"cursor": f"{time}-{third.pk}"}).json()

    assert [row["event_id"] for row in events["data"]] == [str(second.fact_id), str(third.fact_id)]
    assert [row["shipment_id"] for row in log["data"]] == [2, 1]
    assert len(events["next_cursor"]) == 43


def test_a_cursor_in_use_goes_over_to_a_new_key(
    api: APIClient, webhook: Webhook, settings: Settings
) -> None:
    cursor = api.get(f"/webhooks/{webhook.pk}/events").json()["next_cursor"]
    old, new = settings.FIELD_KEYS, new_key()
    settings.FIELD_KEYS = [new, *old]

    moved = api.get(f"/webhooks/{webhook.pk}/events", {"after": cursor}).json()["next_cursor"]

    settings.FIELD_KEYS = [new]
    assert answer_after(api, webhook, "events", cursor)[0] == 400
    assert moved != cursor
