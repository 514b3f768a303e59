"""Effects of an attempt's result, and whose result counts."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from companies.models import Company
from deliveries import publishing, redelivery, statements
from deliveries.engine import recording
from deliveries.engine.loans import Claimed
from deliveries.engine.recording import AttemptResult
from deliveries.models import OPEN, Attempt, Delivery, Health, Loop, State
from tests import builders as build
from tests.sending import claim


def claim_one() -> Claimed:
    return claim(1)[0]


def result(claimed: Claimed, **changes: Any) -> AttemptResult:
    success = AttemptResult(
        delivery_id=claimed.id,
        claim=claimed.claim,
        webhook_id=claimed.webhook_id,
        state=State.DELIVERED,
        url="https://hooks.example.com/in",
        started_at=timezone.now(),
        duration_ms=12,
        status=204,
        answer=b"thanks",
    )
    return replace(success, **changes)


def failed(claimed: Claimed, **changes: Any) -> AttemptResult:
    failure = {"state": State.WAITING, "wait": 5, "status": None, "error": "timeout"}
    return result(claimed, **{**failure, "unreachable": True, **changes})


def test_finishes_a_delivery_and_logs_the_attempt(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    claimed = claim_one()

    assert recording.record_attempts([result(claimed)]) == 1

    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.step) == (State.DELIVERED, 1, 0)
    assert (delivery.last_status, delivery.claimed_by) == (204, None)
    assert delivery.finished_at is not None
    assert delivery.archived_on != OPEN
    attempt = Attempt.objects.get()
    assert (str(attempt.delivery_id), attempt.number, attempt.status) == (claimed.id, 1, 204)
    assert bytes(attempt.answer) == b"thanks"


def test_makes_a_failed_delivery_due_again(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])

    recording.record_attempts([failed(claim_one(), wait=300)])

    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.step) == (State.WAITING, 1, 1)
    assert delivery.due_at > timezone.now() + timedelta(seconds=290)
    assert (delivery.last_error, delivery.archived_on) == ("timeout", OPEN)


def test_refuses_the_word_of_a_worker_that_lost_its_claim(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    late = claim_one()
    Loop.objects.update(lost=True)
    present = claim_one()

    assert recording.record_attempts([result(late)]) == 0
    assert Delivery.objects.get().state == State.WAITING
    assert not Attempt.objects.exists()

    assert recording.record_attempts([result(present)]) == 1
    assert recording.record_attempts([result(present)]) == 0
    assert Attempt.objects.count() == 1


def test_wakes_the_next_of_the_shipment(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, 1, body=body) for body in (b"1", b"2", b"3")])
    bodies = []

    for _ in range(3):
        (claimed,) = claim(10)
        bodies.append(claimed.body)
        recording.record_attempts([result(claimed)])

    assert bodies == [b"1", b"2", b"3"]


def test_does_not_look_for_the_next_among_all_that_is_due_later(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(500)])
    Delivery.objects.update(archived_on=timezone.now().date())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE deliveries_delivery_open")
    publishing.publish([build.news(company, n) for n in range(500)])
    Delivery.objects.open().update(due_at=timezone.now() + timedelta(hours=1))
    statements.settle_plans(transaction_only=True)

    with statements.cursor() as cursor:
        cursor.execute(f"EXPLAIN {recording.RECORD}", ["[]"])
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "delivery_due" not in plan


def test_rests_a_webhook_that_cannot_be_reached(company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(6)])

    for _ in range(2):
        recording.record_attempts([failed(claim_one())])
    assert Health.objects.get().resting_until is None

    recording.record_attempts([failed(claim_one())])

    health = Health.objects.get(webhook=webhook)
    assert (health.failures, health.rests) == (3, 1)
    assert health.resting_until > timezone.now()
    assert claim() == []


def test_rests_longer_each_time_up_to_five_minutes(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(20)])
    rests = iter([None, None, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])

    for rest in rests:
        claimed = claim_one()
        before = timezone.now()
        recording.record_attempts([failed(claimed)])
        after = timezone.now()
        until = Health.objects.get().resting_until
        if rest is None:
            assert until is None
        else:
            assert before <= until - timedelta(seconds=rest) <= after
            Health.objects.update(resting_until=timezone.now() - timedelta(seconds=1))


def test_an_answer_that_is_no_success_does_not_rest(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(5)])

    for _ in range(5):
        recording.record_attempts([failed(claim_one(), status=500, error="", unreachable=False)])

    health = Health.objects.get()
    assert (health.failures, health.resting_until) == (5, None)
    assert health.failing_since is not None


def test_a_success_makes_a_webhook_well(company: Company) -> None:
    webhook = build.webhook(company)
    publishing.publish([build.news(company, n) for n in range(4)])
    for _ in range(3):
        recording.record_attempts([failed(claim_one())])
    Health.objects.update(resting_until=timezone.now() - timedelta(seconds=1))

    recording.record_attempts([result(claim_one())], unwell=[webhook.pk])

    health = Health.objects.get()
    assert (health.failures, health.rests, health.failing_since) == (0, 0, None)
    assert health.resting_until is None


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("pulled", [False, True])
def test_end_of_an_earlier_delivery_leaves_the_backoff_of_the_next(
    company: Company, step: int, *, pulled: bool
) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, 1), build.news(company, 1)])
    first, behind = Delivery.objects.order_by("event_id")
    recording.record_attempts([result(claim_one())])
    soon = timezone.now() + timedelta(seconds=1)
    rows = Delivery.objects.filter(pk=behind.pk)
    rows.update(step=step, own_due_at=soon if pulled else None)
    recording.record_attempts([failed(claim_one(), wait=60, keeps_place=True)])
    own = rows.get().due_at
    assert redelivery.redeliver([first.pk]) == 1

    assert recording.record_attempts([result(claim_one())]) == 1

    assert rows.get().due_at == own > soon + timedelta(seconds=50)


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("pulled", [False, True])
def test_wakes_what_is_parked_whatever_its_step(
    company: Company, step: int, *, pulled: bool
) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, 1), build.news(company, 1)])
    first, behind = Delivery.objects.order_by("event_id")
    soon = timezone.now() + timedelta(seconds=0.5)
    rows = Delivery.objects.filter(pk=behind.pk)
    rows.update(step=step, own_due_at=soon if pulled else None)
    (claimed,) = claim(10)
    assert rows.get().due_at > timezone.now()

    recording.record_attempts([result(claimed)])

    (next_one,) = claim(10)
    assert (claimed.id, next_one.id) == (str(first.pk), str(behind.pk))


def test_a_parked_retry_that_is_asked_for_has_its_own_time_still(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company, 1), build.news(company, 1)])
    _, behind = Delivery.objects.order_by("event_id")
    Delivery.objects.filter(pk=behind.pk).update(step=1)
    own = behind.due_at
    (claimed,) = claim(10)

    redelivery.pull([behind.pk], again=True)
    assert claim(10) == []
    recording.record_attempts([result(claimed)])

    (retry,) = claim(10)
    assert (retry.id, retry.pulled) == (str(behind.pk), False)
    assert Delivery.objects.get(pk=behind.pk).own_due_at == own
