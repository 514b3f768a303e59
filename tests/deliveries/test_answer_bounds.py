"""Responses about events and deliveries are at most 4 MiB, and nothing is lost (decision N40)."""

import json

import pytest
from rest_framework.test import APIClient

from companies.models import Company
from core.api.answer_sizes import MOST_BYTES
from deliveries import publishing
from deliveries.engine import recording
from deliveries.models import Attempt, Delivery, LoggedAttempt
from tests import builders as build
from tests.deliveries.test_recording import claim_one, result

pytestmark = pytest.mark.django_db
LONGEST = 100 * 1024


@pytest.mark.parametrize("url", ["", "https://hooks.parcels.org/in"])
def test_a_stream_of_long_events_is_read_in_bounded_pages(
    api: APIClient, company: Company, url: str
) -> None:
    webhook = build.webhook(company, url=url)
    bodies = [json.dumps({"n": number, "text": '"' * (LONGEST // 2)}) for number in range(60)]
    publishing.publish([build.news(company, body=body.encode()) for body in bodies])

    read: list[str] = []
    cursor: str | None = None
    while True:
        answer = api.get(
            f"/webhooks/{webhook.pk}/events",
            {"limit": 100, **({"after": cursor} if cursor else {})},
        )
        assert len(answer.content) <= MOST_BYTES
        page = answer.json()
        if not page["data"]:
            break
        read += [event["body"] for event in page["data"]]
        cursor = page["next_cursor"]

    assert read == bodies


def test_one_event_is_sent_whatever_its_size(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company, url="")
    body = json.dumps({"text": "x" * MOST_BYTES})
    publishing.publish([build.news(company, body=body.encode()) for _ in range(2)])

    page = api.get(f"/webhooks/{webhook.pk}/events").json()

    assert [event["body"] for event in page["data"]] == [body]


def test_a_delivery_shows_its_newest_attempts(api: APIClient, company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    recording.record_attempts([result(claim_one())])
    delivery = Delivery.objects.get()
    first = Attempt.objects.get()
    LoggedAttempt.objects.bulk_create(
        LoggedAttempt(
            delivery_id=delivery.pk,
            number=number,
            started_at=first.started_at,
            duration_ms=1,
            url=first.url,
            status=500,
            answer=b"\x01" * 16 * 1024,
        )
        for number in range(2, 400)
    )

    answer = api.get(f"/deliveries/{delivery.pk}")

    assert len(answer.content) <= MOST_BYTES
    numbers = [attempt["number"] for attempt in answer.json()["data"]["log"]]
    assert numbers == list(range(numbers[0], 400))
    assert 30 < len(numbers) <= 100
