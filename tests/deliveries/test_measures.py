"""Metrics of attempts: counts, outcomes and durations, in few series."""

import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from companies.models import Company
from core.measures.counting import pending
from core.models import Sum
from deliveries import publishing
from deliveries.engine.slots import SLOTS
from deliveries.models import Delivery, Health, Heartbeat, Loop
from tests import builders as build
from tests.core.test_metrics import figures, of
from tests.sending import deliver, make_due
from tools.faults.receiver import Answer, Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy


@pytest.fixture(autouse=True)
def nothing_counted(db: None) -> None:
    pending.take()
    Sum.objects.all().delete()


def test_counts_attempts_by_what_came_of_them(
    client: Client, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=f"{receiver.url}/in")
    publishing.publish([build.news(company, n) for n in range(2)])
    receiver.answer = lambda _: Answer(503)
    deliver(loopback)
    receiver.answer = lambda _: Answer(200)
    publishing.publish([build.news(company, n) for n in range(10, 13)])
    make_due()
    deliver(loopback)
    receiver.answer = lambda _: Answer(404)
    publishing.publish([build.news(company, 20)])
    Delivery.objects.open().update(step=30)
    make_due()
    deliver(loopback)

    # The counts were written when the loops ended.
    assert not pending
    samples = figures(client)

    assert of(samples, "delivery_attempts_total", outcome="delivered", error="") == 5
    assert of(samples, "delivery_attempts_total", outcome="failed", error="http_5xx") == 2
    assert of(samples, "delivery_attempts_total", outcome="failed", error="http_4xx") == 1
    assert of(samples, "deliveries_finished_total", outcome="delivered") == 5
    assert of(samples, "deliveries_finished_total", outcome="given_up") == 1
    assert of(samples, "delivery_attempt_duration_seconds_count", outcome="delivered") == 5
    assert of(samples, "delivery_attempt_duration_seconds_count", outcome="failed") == 3
    # The latency counts first attempts that succeeded.
    assert of(samples, "delivery_latency_seconds_count") == 3


def test_measures_from_the_event_to_the_answer(
    client: Client, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    build.webhook(company, url=f"{receiver.url}/in")
    publishing.publish([build.news(company)])
    made_at = int((time.time() - 100) * 1000)
    Delivery.objects.update(id=f"{made_at:012x}70008000000000000000")
    deliver(loopback)

    samples = figures(client)

    assert of(samples, "delivery_latency_seconds_bucket", le="60.0") == 0
    assert of(samples, "delivery_latency_seconds_bucket", le="300.0") == 1
    seconds = of(samples, "delivery_latency_seconds_sum")
    assert seconds is not None
    assert 100 <= seconds < 160


def test_more_webhooks_companies_and_hosts_make_no_more_series(
    client: Client, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    def series() -> set[object]:
        publishing.publish([build.news(each) for each in companies])
        deliver(loopback)
        return set(figures(client))

    companies = [company]
    build.webhook(company, url=f"{receiver.url}/1")
    before = series()
    with Receiver() as another:
        for number in range(5):
            companies.append(build.company(f"Company {number}"))
            build.webhook(companies[-1], url=f"{another.url}/{number}")

        assert series() == before
    assert len(another.log) == 5


def test_shows_what_waits_by_what_it_waits_for(client: Client, company: Company) -> None:
    build.webhook(company)
    second = build.webhook(company, url="https://b.example.com/")
    publishing.publish([build.news(company, n) for n in range(4)])
    ago = timezone.now() - timedelta(seconds=50)
    one = Delivery.objects.filter(webhook=second).order_by("event_id").first()
    Delivery.objects.filter(pk=one.pk).update(step=1, due_at=ago)  # type: ignore[union-attr]
    paused = build.webhook(build.company("Other"))
    publishing.publish([build.news(paused.company)])
    Webhook.objects.filter(pk=paused.pk).update(active=False)

    samples = figures(client)

    assert of(samples, "deliveries_waiting") == 9
    waiting = {
        kind: of(samples, "deliveries_waiting_by_kind", kind=kind)
        for kind in ("first_attempt", "retry", "resting", "paused")
    }
    assert waiting == {"first_attempt": 7, "retry": 1, "resting": 0, "paused": 1}
    retry = of(samples, "delivery_oldest_due_by_kind_seconds", kind="retry")
    fresh = of(samples, "delivery_oldest_due_by_kind_seconds", kind="first_attempt")
    assert retry is not None
    assert fresh is not None
    assert retry >= 50 > fresh
    assert of(samples, "delivery_oldest_due_seconds") == retry


def test_shows_the_loops_and_their_slots(client: Client, db: None) -> None:
    soon, past = (timezone.now() + timedelta(seconds=s) for s in (60, -60))
    for number, until in enumerate((soon, soon, past, None)):
        loop = Loop.objects.create(
            id=f"{number:032x}",
            host="a",
            process_id=number,
            started_at=past,
            lost=until is None,
        )
        if until:
            Heartbeat.objects.create(loop=loop, lease_until=until, busy=10)

    samples = figures(client)

    assert of(samples, "engine_loops") == 2
    assert of(samples, "engine_slots") == 2 * SLOTS
    assert of(samples, "engine_slots_busy") == 20
    assert of(samples, "engine_loops_wanted") == settings.DELIVERY_LOOPS


def test_a_receiver_that_is_down_is_counted_also_between_its_attempts(
    client: Client, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    ours = build.webhook(company, url=f"{receiver.url}/in")
    receiver.answer = lambda _: Answer(503)
    publishing.publish([build.news(company, n) for n in range(3)])
    deliver(loopback)

    # For minutes nothing is due and nobody rests: receivers that answer are not left alone.
    assert not Health.objects.filter(resting_until__gt=timezone.now()).exists()
    assert of(figures(client), "webhooks_failing") == 1

    ours.active = False
    ours.save()
    assert of(figures(client), "webhooks_failing") == 0
    ours.active = True
    ours.save()
    receiver.answer = lambda _: Answer(200)
    make_due()
    deliver(loopback)
    assert of(figures(client), "webhooks_failing") == 0


def test_failing_webhooks_count_if_deliveries_wait(client: Client, company: Company) -> None:
    for failures in (2, 3, 9):
        Health.objects.create(webhook=build.webhook(company), failures=failures)
    assert of(figures(client), "webhooks_failing") == 0

    publishing.publish([build.news(company)])
    assert of(figures(client), "webhooks_failing") == 2

    Company.objects.update(active=False)
    assert of(figures(client), "webhooks_failing") == 0
