"""Scenarios that disturb the service and count its receiver's requests.

Each takes its size as arguments: small in the tests, large in `tools/faults/run`.
"""

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError, connection

from companies.models import Company
from deliveries.models import Delivery
from shipments.event_types.status import STATUS_EVENTS
from tools.faults import ledger
from tools.faults.feeding import Feed, register_signed
from tools.faults.receiver import Answer, Received, Receiver
from tools.faults.service import Service
from webhooks import services
from webhooks.event_types import registry
from webhooks.models import Webhook

# Longer than the second retry delay, as a busy receiver may time out twice.
WAIT_SECONDS = 400


def until(condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> float:
    """Wait for a condition; return the seconds it took. Raises TimeoutError."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            raise TimeoutError(f"not done after {seconds} seconds")
        time.sleep(0.02)
    return time.monotonic() - start


def patiently(ask: Callable[[], bool]) -> Callable[[], bool]:
    """Wrap a condition on a database that may be restarting: errors count as False."""

    def answer() -> bool:
        try:
            return ask()
        except (OperationalError, InterfaceError):
            connection.close()
            return False

    return answer


def nothing_waits() -> bool:
    return not Delivery.objects.open().exists()


def settled(receiver: Receiver, expected: int) -> Callable[[], bool]:
    return lambda: len(receiver.log) >= expected and nothing_waits()


def register_all(company: Company, receiver: Receiver) -> dict[int, Webhook]:
    """Register a webhook for each event type, each with its own path."""
    return {
        each.id: services.register_webhook(
            company, type_id=each.id, url=f"{receiver.url}/{each.id}"
        )
        for each in registry
    }


def feed(service: Service, company: Company, receiver: Receiver, feed: Feed) -> dict[str, Any]:
    """Ingest a feed for webhooks of all types, then the same feed again."""
    webhooks = register_all(company, receiver)
    service.start("worker")
    text, expected = feed.text(), feed.expected()
    start = time.monotonic()
    first = service.manage("ingest", "-", stdin=text).splitlines()[-1]
    ingested = time.monotonic() - start
    until(settled(receiver, sum(expected.values())))
    arrived = time.monotonic() - start
    second = service.manage("ingest", "-", stdin=text).splitlines()[-1]
    time.sleep(3)
    by_type: dict[int, list[Received]] = {type_id: [] for type_id in webhooks}
    for received in receiver.log:
        by_type[int(received.path.strip("/"))].append(received)
    return {
        "first_ingest": first,
        "second_ingest": second,
        "expected": {type_id: expected[type_id] for type_id in webhooks},
        "received": {type_id: len(log) for type_id, log in by_type.items()},
        "verified": {
            type_id: sum(ledger.verified(webhook.secret, received) for received in by_type[type_id])
            for type_id, webhook in webhooks.items()
            if webhook.secret
        },
        "out_of_order": sum(
            ledger.out_of_order(by_type[each.id]) for each in STATUS_EVENTS if each.signed
        ),
        "ingest_seconds": round(ingested, 1),
        "arrived_seconds": round(arrived, 1),
    }


def killed_worker(
    service: Service, company: Company, receiver: Receiver, feed: Feed
) -> dict[str, Any]:
    """Kill the worker and its children with SIGKILL halfway; a new worker sends the rest."""
    webhook = register_signed(company, receiver)
    service.manage("ingest", "-", stdin=feed.text())
    answers = receiver.answer = LateAnswers(receiver)
    answers.hold(feed.updates // 3)
    service.start("worker")
    until(lambda: len(receiver.log) >= feed.updates // 3)
    service.kill("worker")
    at_the_kill = len(receiver.log)
    answers.release()
    service.start("worker")
    seconds = until(nothing_waits)
    return {
        **ledger.summary(receiver.log, feed.events(), webhook.secret),
        "received_at_the_kill": at_the_kill,
        "seconds_after_the_kill": round(seconds, 1),
    }


class LateAnswers:
    """Receiver's previous answers, delayed by `seconds`, so that requests stay in flight.

    From request number `at` of `hold` on they wait for `release`, so that something is in flight
    even on a busy machine.
    """

    # Shorter than any timeout of a delivery, or the attempt would fail.
    HOLD_SECONDS = 1.0

    def __init__(self, receiver: Receiver, seconds: float = 0.02) -> None:
        self.log = receiver.log
        self.answer = receiver.answer
        self.seconds = seconds
        self.held_from = math.inf
        self.released = threading.Event()

    def hold(self, at: float) -> None:
        self.released.clear()
        self.held_from = at

    def release(self) -> None:
        self.held_from = math.inf
        self.released.set()

    def __call__(self, received: Received) -> Answer:
        time.sleep(self.seconds)
        if len(self.log) >= self.held_from:
            self.released.wait(self.HOLD_SECONDS)
        return self.answer(received)
