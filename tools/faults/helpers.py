"""Broker failures: it refuses writes, cuts connections or freezes. Sending must not need it."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from django.conf import settings
from kombu import Connection

from companies.models import Company
from deliveries.engine.schedule import JITTER
from deliveries.monitoring import backlog
from tools.faults import ledger
from tools.faults.feeding import register_signed
from tools.faults.ledger import Event, event_in
from tools.faults.probing import answers, open_ticket
from tools.faults.receiver import Answer, Received, Receiver
from tools.faults.scenarios import nothing_waits, until
from tools.faults.service import Service
from tools.faults.steady import Steady, longest_pause

# One event in REFUSED_OF is refused at first.
REFUSED_OF = 20


@contextmanager
def refusing_writes(broker_url: str) -> Iterator[None]:
    """Make the broker answer every write with an error for the duration of a block."""
    with Connection(broker_url) as opened:
        client = opened.default_channel.client
        client.config_set("min-replicas-to-write", 1)
        try:
            yield
        finally:
            client.config_set("min-replicas-to-write", 0)


@contextmanager
def cutting_clients(broker_url: str) -> Iterator[None]:
    """Cut the broker's connections again and again for the duration of a block."""
    over = threading.Event()

    def cut() -> None:
        with Connection(broker_url) as opened:
            client = opened.default_channel.client
            while not over.wait(1.0):
                client.client_kill_filter(_type="normal", skipme=True)

    thread = threading.Thread(target=cut)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def locked_out(broker_url: str) -> Iterator[None]:
    """Make the broker require an unknown password for the duration of a block."""
    with Connection(broker_url) as opened:
        client = opened.default_channel.client
        client.config_set("requirepass", "changed")
        client.client_kill_filter(_type="normal", skipme=True)
        try:
            yield
        finally:
            client.config_set("requirepass", "")


@contextmanager
def suspended(pid: int) -> Iterator[None]:
    """Suspend a process by SIGSTOP for the duration of a block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


class FirstRefused:
    """Receiver's answers: 500 to the first request for some of the events, otherwise 200."""

    def __init__(self) -> None:
        self.seen_events: set[Event] = set()

    def __call__(self, received: Received) -> Answer:
        event = event_in(received.body)
        first = event not in self.seen_events
        self.seen_events.add(event)
        return Answer(500 if first and sum(event) % REFUSED_OF == 0 else 200)


def helper_away(
    service: Service,
    company: Company,
    receiver: Receiver,
    *,
    away: Callable[[], AbstractContextManager[None]],
    seconds: float,
    per_second: float,
) -> dict[str, Any]:
    """Publish events before and while a server is `away`; some of them are refused at first.

    `retries_off_by_seconds` is the largest deviation of a retry from its time.
    """
    webhook = register_signed(company, receiver)
    receiver.answer = FirstRefused()
    for kind in ("web", "worker"):
        service.start(kind)
    until(lambda: backlog.last_pulse() is not None)
    until(lambda: answers(service, "/healthz"))
    with Steady(company, per_second) as steady:
        until(lambda: len(receiver.log) >= per_second)
        with away():
            at, published = time.time(), steady.published
            ticket = open_ticket(service, company)
            time.sleep(max(0.0, at + seconds - time.time()))
            back, published = time.time(), steady.published - published
    until(nothing_waits)
    during = [each for each in ledger.first_of_each(receiver.log) if at <= each.at < back]
    _, pause = longest_pause(receiver.log, at, back)
    retries = retries_off_by(receiver.log, at, settings.DELIVERY_RETRY_SECONDS[0])
    first = min((each.at for each in during), default=None)
    return {
        **ledger.summary(receiver.log, steady.events, webhook.secret),
        "published_meanwhile": published,
        "delivered_meanwhile": len(during),
        "delivered_of_published": round(len(during) / published, 2),
        "seconds_to_the_first_delivery": first and round(first - at, 2),
        "longest_seconds_without_a_delivery": round(pause, 2),
        "retries": len(retries),
        "retries_in_all": sum(sum(each) % REFUSED_OF == 0 for each in steady.events),
        "retries_off_by_seconds": max(retries) if retries else None,
        "ticket_opened_meanwhile": ticket,
    }


def retries_off_by(log: list[Received], since: float, wait: float) -> list[float]:
    """Return deviations of second requests from their time, of events first sent after `since`.

    A retry is due after `wait` seconds, or up to 10 % later.
    """
    first: dict[Event, float] = {}
    off = []
    for received in log:
        event = event_in(received.body)
        if event not in first:
            first[event] = received.at
        elif first[event] >= since:
            took = received.at - first[event]
            off.append(round(max(wait - took, took - wait * (1 + JITTER), 0.0), 2))
    return off
