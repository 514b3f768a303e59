"""POST /webhooks/{id}/test: a signed request on demand (decision N7)."""

import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.engine.signing import sign
from deliveries.http.answers import Failure
from deliveries.models import Attempt, Delivery, Event, SampleSend
from deliveries.on_demand import advice, sample_delivery, signed_test
from shipments.event_types.status import StatusEvent
from tests import builders as build
from tests.deliveries import hostile
from tools.faults.receiver import Answer, Received, Receiver
from webhooks import services
from webhooks.event_types import EventType, registry
from webhooks.models import Webhook

pytestmark = pytest.mark.usefixtures("loopback")
SECRET = "5e" * 32
OK, UNAUTHORIZED = Answer(), Answer(401)


def is_genuine(received: Received) -> bool:
    headers = received.headers
    timestamp, event = int(headers["X-Webhook-Timestamp"]), headers["X-Webhook-Event"]
    return sign(SECRET, timestamp, event, received.body) == headers["X-Webhook-Signature"]


def is_fresh(received: Received) -> bool:
    return abs(time.time() * 1000 - int(received.headers["X-Webhook-Timestamp"])) < 300_000


def send_test(api: APIClient, webhook: Webhook) -> dict[str, Any]:
    answer = api.post(f"/webhooks/{webhook.pk}/test")
    assert (answer.status_code, answer.json()["meta"]) == (200, "webhook_tested")
    return answer.json()["data"]


def test_a_receiver_that_verifies_needs_no_advice(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    receiver.answer = lambda received: (
        OK if is_genuine(received) and is_fresh(received) else UNAUTHORIZED
    )
    webhook = build.webhook(company, url=receiver.url, auth_token="tok-1")

    data = send_test(api, webhook)

    assert [is_fresh(each) for each in receiver.log] == [True, True, False]
    duration = data.pop("duration_ms")
    assert data == {
        "delivered": True,
        "status": 200,
        "error": None,
        "rejects_tampered": True,
        "advice": [],
    }
    assert isinstance(duration, int)


def test_both_requests_carry_all_that_a_delivery_carries(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    webhook = build.webhook(company, url=receiver.url, auth_token="tok-1")

    send_test(api, webhook)

    first, second = receiver.log
    assert (is_genuine(first), is_genuine(second)) == (True, False)
    assert json.loads(first.body)["type"] == json.loads(second.body)["type"] == "tracking.simple"
    assert len(first.body) == len(second.body)
    assert sum(one != two for one, two in zip(first.body, second.body, strict=True)) == 1
    for received in (first, second):
        headers = received.headers
        assert headers["X-Webhook-Test"] == "1"
        assert headers["Authorization"] == "Bearer tok-1"
        assert headers["Content-Type"] == "application/json"
        assert (headers["X-Webhook-Version"], headers["X-Webhook-Sequence"]) == ("2025-09-01", "0")
    for name in ("X-Webhook-Id", "X-Webhook-Event-Id"):
        assert first.headers[name] != second.headers[name]


def test_a_receiver_that_takes_old_requests_is_told_so(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    receiver.answer = lambda received: OK if is_genuine(received) else UNAUTHORIZED

    data = send_test(api, build.webhook(company, url=receiver.url))

    assert (data["rejects_tampered"], data["advice"]) == (True, [advice.ACCEPTS_OLD])
    assert is_genuine(receiver.log[2])


@pytest.mark.parametrize(("checks", "expected"), [(True, []), (False, [advice.ACCEPTS_ANYBODY])])
def test_an_unsigned_type_with_a_token_is_tried_with_a_wrong_one(
    api: APIClient, company: Company, receiver: Receiver, checks: bool, expected: list[str]
) -> None:
    receiver.answer = lambda received: (
        UNAUTHORIZED if checks and received.headers["Authorization"] != "Bearer tok-1" else OK
    )

    data = send_test(api, build.webhook(company, type_id=1, url=receiver.url, auth_token="tok-1"))

    right, wrong = receiver.log
    assert right.body == wrong.body
    assert right.headers["Authorization"] != wrong.headers["Authorization"]
    assert (data["delivered"], data["rejects_tampered"], data["advice"]) == (True, None, expected)


@pytest.mark.parametrize(
    "changes",
    [
        lambda body: json.dumps(json.loads(body), separators=(",", ":")).encode(),
        lambda body: body.decode("latin-1").encode(),
    ],
    ids=["written again", "latin-1"],
)
@pytest.mark.parametrize("type_id", [each.id for each in registry if each.signed])
def test_a_receiver_that_verifies_other_bytes_than_it_got_is_found_out(
    api: APIClient,
    company: Company,
    receiver: Receiver,
    type_id: int,
    changes: Callable[[bytes], bytes],
) -> None:
    """Use a place with an accent: on plain ASCII such a receiver would pass."""
    receiver.answer = lambda received: (
        OK if is_genuine(received._replace(body=changes(received.body))) else UNAUTHORIZED
    )

    data = send_test(api, build.webhook(company, type_id=type_id, url=receiver.url))

    assert (data["delivered"], data["status"]) == (False, 401), "see the test below: its sample"
    assert data["advice"] == [advice.REFUSED]


@pytest.mark.parametrize("type_id", [each.id for each in registry if each.signed])
def test_samples_carry_what_trips_receivers(company: Company, type_id: int) -> None:
    event_type = registry.get(type_id)
    sample = event_type.sample(company.pk, signed_test.TRACKING_NUMBER, timezone.now())
    body = publishing.encode(sample).decode()

    for part in ("León", "“ñ”", '\\"', "📦", "12.5"):
        assert part in body, (
            f"put DESCRIPTION of shipments/event_types/samples.py into the sample of"
            f" {event_type.name}, so that receivers that verify other bytes are found out"
        )
    # Samples of shipments have always had the id 1.
    of_old = isinstance(event_type, StatusEvent)
    assert (str(2**53 + 1) in body) != of_old, f"{event_type.name}: LARGE_ID as an id in its sample"


def test_signed_test_creates_no_delivery(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    webhook = build.webhook(company, url=receiver.url)

    send_test(api, webhook)

    for rows in (Event.objects, Delivery.objects, Attempt.objects, SampleSend.objects):
        assert not rows.exists()
    assert api.get(f"/webhooks/{webhook.pk}/deliveries").json()["data"] == []


def test_a_receiver_that_takes_everything_is_told_to_verify(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    data = send_test(api, build.webhook(company, url=receiver.url))

    assert (data["delivered"], data["rejects_tampered"]) == (True, False)
    assert data["advice"] == [advice.ACCEPTS_TAMPERED]


def test_a_receiver_that_fails_at_a_wrong_signature_is_told_to_refuse_it(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    receiver.answer = lambda received: OK if is_genuine(received) else Answer(500)

    data = send_test(api, build.webhook(company, url=receiver.url))

    assert data["rejects_tampered"] is True
    assert data["advice"] == [advice.FAILS_AT_TAMPERED]


def test_unsigned_types_get_one_request_without_webhook_headers(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    data = send_test(api, build.webhook(company, type_id=1, url=receiver.url))

    (received,) = receiver.log
    assert [name for name in received.headers if name.lower().startswith("x-webhook")] == []
    assert (data["delivered"], data["rejects_tampered"], data["advice"]) == (True, None, [])


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (301, advice.REDIRECT),
        (401, advice.REFUSED),
        (404, advice.BY_STATUS[404]),
        (418, advice.OTHER),
        (500, advice.FAILED),
    ],
)
def test_refused_request_is_not_repeated_with_a_wrong_signature(
    api: APIClient, company: Company, receiver: Receiver, status: int, expected: str
) -> None:
    receiver.answer = lambda received: Answer(status)

    data = send_test(api, build.webhook(company, url=receiver.url))

    assert len(receiver.log) == 1
    assert (data["delivered"], data["status"], data["rejects_tampered"]) == (False, status, None)
    assert data["error"] == sample_delivery.NOT_2XX
    assert data["advice"] == [expected]


@pytest.mark.parametrize(
    ("behave", "failure"),
    [
        (hostile.saying(b"what?"), Failure.RESET),
        (hostile.silent, Failure.TIMEOUT),
    ],
)
def test_missing_answer_comes_with_advice(
    api: APIClient, company: Company, settings: Settings, behave: Callable, failure: Failure
) -> None:
    settings.DELIVERY_TIMEOUT_SECONDS = 0.3
    with hostile.receiver(behave) as running:
        data = send_test(api, build.webhook(company, url=running.url))

    assert (data["delivered"], data["status"], data["rejects_tampered"]) == (False, None, None)
    assert data["error"] == sample_delivery.REASONS[failure]
    assert data["advice"] == [advice.BY_FAILURE[failure]]


def test_every_failure_that_is_told_has_its_advice() -> None:
    assert set(advice.BY_REASON) == set(sample_delivery.REASONS.values())


def test_a_paused_webhook_is_tried_and_told_so(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    data = send_test(api, build.webhook(company, type_id=1, url=receiver.url, active=False))

    assert (data["delivered"], data["advice"]) == (True, [advice.PAUSED])


def test_a_secret_that_cannot_be_read_is_told(
    api: APIClient, company: Company, receiver: Receiver
) -> None:
    webhook = build.webhook(company, url=receiver.url)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE webhooks_webhook SET secret = 'lost' WHERE id = %s", [webhook.pk])

    data = send_test(api, webhook)

    assert (data["delivered"], data["error"]) == (False, signed_test.UNREADABLE)
    assert receiver.log == []


def test_a_webhook_without_a_url_cannot_be_tried(api: APIClient, company: Company) -> None:
    answer = api.post(f"/webhooks/{build.webhook(company, url='').pk}/test")

    assert (answer.status_code, answer.json()["code"]) == (422, "webhook_without_url")


def test_a_url_that_is_no_longer_allowed_is_not_tried(
    api: APIClient, company: Company, settings: Settings, receiver: Receiver
) -> None:
    webhook = build.webhook(company, url=receiver.url)
    settings.WEBHOOK_ALLOW_HTTP = False

    answer = api.post(f"/webhooks/{webhook.pk}/test")

    assert answer.status_code == 422
    assert "no longer allowed" in answer.json()["message"]
    assert receiver.log == []


def test_it_counts_as_sending_and_as_a_test_send(
    api: APIClient, company: Company, receiver: Receiver, settings: Settings
) -> None:
    webhook = build.webhook(company, url=receiver.url)
    until = timezone.now() + timedelta(seconds=60)
    for _ in range(sample_delivery.PER_COMPANY):
        SampleSend.objects.create(company_id=company.pk, process="elsewhere", until=until)

    answer = api.post(f"/webhooks/{webhook.pk}/test")

    assert (answer.status_code, answer.json()["code"]) == (429, "test_send_limit")
    assert answer["RateLimit-Limit"] == str(settings.RATE_LIMITS["send"])
    assert "Retry-After" in answer
    assert receiver.log == []


def test_deleted_and_foreign_webhooks_are_not_found(
    api: APIClient, birch_api: APIClient, company: Company
) -> None:
    webhook = build.webhook(company)

    assert birch_api.post(f"/webhooks/{webhook.pk}/test").status_code == 404
    services.delete_webhook(company, webhook.pk)
    assert api.post(f"/webhooks/{webhook.pk}/test").status_code == 404


@pytest.mark.parametrize(
    ("body", "changed"), [(b'{"a":10}', b'{"a":11}'), (b'{"a":"9x"}', b'{"a":"0x"}')]
)
def test_one_digit_is_changed(body: bytes, changed: bytes) -> None:
    assert signed_test.tampered(body) == changed


@pytest.mark.parametrize("event_type", [pytest.param(each, id=each.name) for each in registry])
def test_a_sample_of_every_type_can_be_tampered_with(
    company: Company, event_type: EventType
) -> None:
    sample = event_type.sample(company.pk, signed_test.TRACKING_NUMBER, timezone.now())
    body = publishing.encode(sample)

    changed = signed_test.tampered(body) if event_type.signed else body + b" "

    assert json.loads(changed).keys() == sample.keys()
    assert changed != body
