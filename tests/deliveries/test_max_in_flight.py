"""Requests in flight never exceed the limit of the webhook's company (decision N22)."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from django.db import connection

from companies.models import Company
from core.jobs.bell import Bell
from deliveries import publishing
from deliveries.engine.loop import Engine
from deliveries.engine.runner import Runner
from deliveries.engine.slots import SLOTS
from deliveries.http.transport import Transport
from deliveries.models import Delivery, Loop, State, TakenLane
from tests import builders as build
from tests.sending import deliver
from tools.faults.receiver import Answer, Received, Receiver
from webhooks.models import Webhook
from webhooks.targets import Policy


class Counter:
    """Answers once as many requests are in flight as it wants to see, or after a moment."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.most = 0
        self._now = 0
        self._change = threading.Condition()

    def __call__(self, received: Received) -> Answer:
        with self._change:
            self._now += 1
            self.most = max(self.most, self._now)
            self._change.notify_all()
            # A sender beyond its limit has this long to show it.
            self._change.wait_for(lambda: self.most >= self.wanted, timeout=0.05)
            self._now -= 1
        return Answer()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def run_loop(allowed: Policy, stop: threading.Event) -> int:
    with closing(Transport(allowed, concurrency=SLOTS)) as transport, closing(Runner()) as runner:
        try:
            return Engine(transport, stop.is_set, runner, Bell()).run()
        finally:
            # Each thread has a database connection of its own.
            connection.close()


def run_two_loops(allowed: Policy, receiver: Receiver, expected: int) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(2) as loops:
        running = [loops.submit(run_loop, allowed, stop) for _ in range(2)]
        try:
            receiver.wait_for(expected)
        finally:
            stop.set()
        assert sum(loop.result() for loop in running) == expected


def test_holds_over_two_loops(
    rows_to_keep: None, company: Company, receiver: Receiver, loopback: Policy
) -> None:
    """Hold the limit: without it a window grows to as many as the receiver wants to see."""
    spared = build.webhook(company, url=f"{receiver.url}/spared", max_in_flight=3)
    receiver.answer = counter = Counter(wanted=4)
    for part in range(6):
        publishing.publish([build.news(company, 100 * part + n) for n in range(10)])

    run_two_loops(loopback, receiver, 60)

    assert counter.most == 3
    assert Delivery.objects.filter(webhook=spared, state=State.DELIVERED).count() == 60
    assert (TakenLane.objects.count(), Loop.objects.count()) == (0, 0)


@pytest.mark.parametrize("most", [None, 1000])
def test_webhook_without_a_limit_gets_more(
    company: Company, receiver: Receiver, loopback: Policy, most: int | None
) -> None:
    build.webhook(company, url=receiver.url, max_in_flight=most)
    receiver.answer = counter = Counter(wanted=4)
    publishing.publish([build.news(company, n) for n in range(40)])

    deliver(loopback)

    assert counter.most >= 4


def test_a_change_counts_from_the_next_claim(
    company: Company, receiver: Receiver, loopback: Policy
) -> None:
    webhook = build.webhook(company, url=receiver.url, max_in_flight=1)
    receiver.answer = counter = Counter(wanted=2)
    publishing.publish([build.news(company, n) for n in range(10)])
    deliver(loopback)
    assert counter.most == 1

    Webhook.objects.filter(pk=webhook.pk).update(max_in_flight=2)
    publishing.publish([build.news(company, n) for n in range(10)])
    deliver(loopback)

    assert counter.most == 2
