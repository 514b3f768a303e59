"""A company may limit the requests in flight to its receiver (decision N22)."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from webhooks.models import Webhook

URL = "https://hooks.example.com/in"


@pytest.mark.parametrize("most", [1, 1000, None])
def test_registering_takes_it_and_every_answer_shows_it(api: APIClient, most: int | None) -> None:
    answer = api.post("/webhooks", {"url": URL, "max_in_flight": most})

    webhook_id = answer.json()["data"]["id"]
    assert api.get(f"/webhooks/{webhook_id}").json()["data"]["max_in_flight"] == most
    assert [row["max_in_flight"] for row in api.get("/webhooks").json()["data"]] == [most]


def test_there_is_no_limit_unless_one_is_asked_for(api: APIClient, company: Company) -> None:
    webhook_id = api.post("/webhooks", {"url": URL}).json()["data"]["id"]

    assert api.get(f"/webhooks/{webhook_id}").json()["data"]["max_in_flight"] is None


def test_an_update_sets_and_removes_it_alone(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company, max_in_flight=5)
    for most in (7, None):
        assert api.put(f"/webhooks/{webhook.pk}", {"max_in_flight": most}).json() == {"data": True}
        webhook.refresh_from_db()
        assert webhook.max_in_flight == most

    build.webhook(company, max_in_flight=5)
    api.put(f"/webhooks/{webhook.pk}", {"active": 0})

    assert Webhook.objects.filter(max_in_flight=5).count() == 1


@pytest.mark.parametrize("most", [0, -1, 1001, 2**40, "5", 5.0, True, [5], ""])
def test_names_the_field_of_a_bad_value(api: APIClient, company: Company, most: Any) -> None:
    webhook = build.webhook(company, max_in_flight=5)

    for answer in (
        api.post("/webhooks", {"url": URL, "max_in_flight": most}),
        api.put(f"/webhooks/{webhook.pk}", {"max_in_flight": most}),
    ):
        assert answer.status_code == 400
        assert [each["field"] for each in answer.json()["errors"]] == ["max_in_flight"]
    assert list(Webhook.objects.values_list("max_in_flight", flat=True)) == [5]
