"""A first attempt that succeeds is stored with its delivery; readers see no difference."""

from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing, redelivery
from deliveries.engine import recording
from deliveries.models import Attempt, Delivery, LoggedAttempt, State
from deliveries.monitoring import queue_picture
from tests import builders as build
from tests.deliveries.test_recording import claim_one, failed, result
from tests.sending import make_due


@pytest.fixture
def delivery(company: Company) -> Delivery:
    build.webhook(company)
    publishing.publish([build.news(company)])
    return Delivery.objects.get()


def tries(api: APIClient, delivery: Delivery) -> list[dict[str, Any]]:
    log: list[dict[str, Any]] = api.get(f"/deliveries/{delivery.pk}").json()["data"]["log"]
    return log


def attempt() -> None:
    recording.record_attempts([result(claim_one(), status=202, answer=b"thanks")])


def test_first_success_has_no_row_and_is_shown_like_others(
    api: APIClient, delivery: Delivery
) -> None:
    claimed = claim_one()
    own = result(claimed, status=202, answer=b"thanks")
    recording.record_attempts([own])

    assert not LoggedAttempt.objects.exists()
    assert tries(api, delivery) == [
        {
            "number": 1,
            "started_at": f"{own.started_at:%Y-%m-%d %H:%M:%S}",
            "duration_ms": 12,
            "url": own.url,
            "status": 202,
            "error": None,
            "detail": None,
            "answer": "thanks",
        }
    ]


def test_an_answer_without_a_body_is_an_empty_text(api: APIClient, delivery: Delivery) -> None:
    recording.record_attempts([result(claim_one(), answer=b"")])

    assert [each["answer"] for each in tries(api, delivery)] == [""]


def test_a_success_after_a_failure_has_a_row(api: APIClient, delivery: Delivery) -> None:
    recording.record_attempts([failed(claim_one())])
    make_due()
    attempt()

    assert LoggedAttempt.objects.count() == 2
    assert [(one["number"], one["status"]) for one in tries(api, delivery)] == [(1, None), (2, 202)]


@pytest.mark.parametrize("again", [result, failed])
def test_sending_again_keeps_it_as_it_was(api: APIClient, delivery: Delivery, again: Any) -> None:
    attempt()
    [first] = tries(api, delivery)

    redelivery.reopen([delivery.pk])
    assert tries(api, delivery) == [first]
    recording.record_attempts([again(claim_one(), status=207)])

    assert tries(api, delivery)[0] == first
    assert [(one["number"], one["status"]) for one in tries(api, delivery)] == [(1, 202), (2, 207)]
    assert LoggedAttempt.objects.count() == 2


def test_health_counts_each_once(api: APIClient, delivery: Delivery, company: Company) -> None:
    attempt()
    publishing.publish([build.news(company)])
    recording.record_attempts([failed(claim_one())])

    health = api.get(f"/webhooks/{delivery.webhook_id}/health").json()["data"]

    assert (health["attempts"], health["success_rate"]) == (2, 0.5)
    redelivery.reopen([delivery.pk])
    health = api.get(f"/webhooks/{delivery.webhook_id}/health").json()["data"]
    assert (health["attempts"], health["success_rate"]) == (2, 0.5)


def test_first_success_takes_an_attempt_number(delivery: Delivery) -> None:
    before = attempts_written()
    attempt()

    assert attempts_written() == before + 1


def attempts_written() -> int:
    with connection.cursor() as cursor:
        cursor.execute(queue_picture.ATTEMPTS)
        return int(cursor.fetchone()[0])


def test_indexes_find_those_of_a_delivery(delivery: Delivery) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")

    plan = Attempt.objects.filter(delivery=delivery).order_by("-number").explain()

    assert "Seq Scan" not in plan
    assert "deliveries_delivery_open_pkey" in plan
    assert "delivery_id_idx" in plan


def test_a_late_result_changes_nothing(delivery: Delivery) -> None:
    claimed = claim_one()
    Delivery.objects.update(claimed_by=None)

    assert recording.record_attempts([result(claimed)]) == 0
    assert not Attempt.objects.exists()
    assert Delivery.objects.get().state == State.WAITING
