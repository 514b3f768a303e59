"""Health of webhooks after batches of results: batches are mixed, and a rest is one rest."""

from datetime import timedelta

import pytest
from django.utils import timezone

from companies.models import Company
from deliveries.engine import judging, recording
from deliveries.engine.judging import AttemptContext
from deliveries.engine.pace import Pace
from deliveries.engine.slots import Flight, Host, Lane
from deliveries.http.answers import Failure, Reply
from deliveries.models import Health
from deliveries.monitoring import needs_attention
from tests import builders as build
from tests.deliveries.test_recording import failed, result
from tests.deliveries.worlds import World
from tests.sending import claim, on_loan
from webhooks.models import Webhook


def test_a_burst_of_timeouts_is_one_rest(world: World) -> None:
    """Rest once: all were in flight when the rest began, and come back one after the other."""
    world.publish(*range(12))
    mine = [each for each in claim() if each.webhook_id == world.webhooks[0].pk]

    for start in range(0, 12, 3):
        recording.record_attempts([failed(each) for each in mine[start : start + 3]])

    health = Health.objects.get()
    assert (health.webhook_id, health.failures, health.rests) == (world.webhooks[0].pk, 12, 1)
    assert health.resting_until <= timezone.now() + timedelta(seconds=1)


def test_failures_next_to_a_success_do_not_count_as_failing(world: World) -> None:
    world.publish(*range(6))
    mixed, bad, *_ = world.webhooks
    results = [
        failed(each) if each.webhook_id == bad.pk or each.subject_id else result(each)
        for each in claim()
    ]

    recording.record_attempts(results)

    assert list(Health.objects.values_list("webhook_id", "failures")) == [(bad.pk, 6)]
    assert mixed.pk != bad.pk


def test_webhook_that_answers_does_not_rest(world: World) -> None:
    mine, bad, *_ = world.webhooks
    Health.objects.create(webhook=mine, failures=30)
    world.publish(*range(6))
    results = [
        result(each) if each.webhook_id == mine.pk and not each.subject_id else failed(each)
        for each in claim()
        if each.webhook_id in (mine.pk, bad.pk)
    ]

    # Record from a loop that does not know of the failures.
    recording.record_attempts(results)

    resting = Health.objects.exclude(resting_until=None)
    assert [health.webhook_id for health in resting] == [bad.pk]


def test_a_shorter_wish_does_not_cut_a_longer_rest(world: World) -> None:
    mine = world.webhooks[0]
    world.publish(*range(3))
    long, short, _ = [each for each in claim() if each.webhook_id == mine.pk]

    for each, rest in ((long, 250.0), (short, 50.0)):
        recording.record_attempts([failed(each, status=429, unreachable=False, rest=rest)])

    rest = Health.objects.get().resting_until - timezone.now()
    assert timedelta(seconds=240) < rest <= timedelta(seconds=250)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_success_beside_a_wish_for_rest_does_not_end_it(world: World, at_once: bool) -> None:
    """Both were in flight when the receiver asked, or were even recorded together."""
    mine = world.webhooks[0]
    world.publish(*range(3))
    refused, well, _ = [each for each in claim() if each.webhook_id == mine.pk]
    results = [failed(refused, status=429, unreachable=False, rest=250.0), result(well)]

    for batch in [results] if at_once else [results[:1], results[1:]]:
        recording.record_attempts(batch, unwell=[mine.pk])

    health = Health.objects.get()
    assert health.resting_until > timezone.now() + timedelta(seconds=240)
    assert (health.failures, health.rests) == (1, 1)


def test_a_success_after_a_rest_that_was_asked_for_mends(world: World) -> None:
    mine = world.webhooks[0]
    asked_until = timezone.now()
    Health.objects.create(webhook=mine, failures=1, rests=1, asked_until=asked_until)
    world.publish(1)
    probe = next(each for each in claim() if each.webhook_id == mine.pk)

    recording.record_attempts([result(probe)], unwell=[mine.pk])

    assert list(Health.objects.values_list("failures", "asked_until")) == [(0, None)]


@pytest.mark.parametrize(
    ("error", "status", "unreachable"),
    [
        (Failure.TIMEOUT, None, True),
        (Failure.REFUSED, None, True),
        (Failure.DNS, None, True),
        (Failure.INTERNAL, None, False),
        (Failure.BAD_TARGET, None, False),
        (None, 500, False),
        (None, 200, False),
    ],
)
def test_only_silence_of_the_receiver_counts_towards_a_rest(
    error: Failure | None, status: int | None, unreachable: bool
) -> None:
    flight = Flight(Lane(1, 1, Pace(0.0), 0.0), Host(), 0.0, True, True)
    context = AttemptContext(on_loan(1), "https://hooks.example.com/", timezone.now(), flight)
    reply = Reply(context, status, error, "", b"", 1, None)

    assert judging.judge(context, reply, 0.0).unreachable is unreachable


@pytest.mark.parametrize(
    ("status", "wait", "rest"), [(429, 900, 300), (503, 900, 300), (500, 5, 0), (404, 5, 0)]
)
def test_retry_after_counts_of_429_and_503(status: int, wait: float, rest: float) -> None:
    flight = Flight(Lane(1, 1, Pace(0.0), 0.0), Host(), 0.0, True, True)
    context = AttemptContext(on_loan(1), "https://hooks.example.com/", timezone.now(), flight)

    judged = judging.judge(context, Reply(context, status, None, "", b"", 1, 900), 0.0)

    assert (judged.wait, judged.rest) == (wait, rest)


def test_deleted_webhooks_hide_none_that_needs_attention(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    *deleted, present = (build.webhook(company) for _ in range(4))
    for age, webhook in enumerate([present, *deleted]):
        since = now - timedelta(days=age)
        Health.objects.create(webhook=webhook, failures=3, failing_since=since)
    Webhook.objects.filter(pk__in=[each.pk for each in deleted]).update(deleted_at=now)
    monkeypatch.setattr(needs_attention, "MOST_SHOWN", 2)

    listed = needs_attention.needing_attention(now)

    assert [each.webhook for each in listed] == [present]
