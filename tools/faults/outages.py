"""Scenarios of a server that stops and starts again, or loses its data."""

import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import connection

from companies.models import Company
from deliveries.monitoring import backlog
from tools.faults import ledger
from tools.faults.feeding import Feed, register_signed
from tools.faults.probing import answers, open_ticket
from tools.faults.receiver import Receiver
from tools.faults.scenarios import LateAnswers, patiently, settled, until
from tools.faults.service import Service
from tools.faults.storms import feed_until_taken


def silent_broker(
    service: Service,
    company: Company,
    receiver: Receiver,
    feed: Feed,
    *,
    stop_broker: Callable[[], None],
    start_broker: Callable[[], None],
    down: float = 5.0,
) -> dict[str, Any]:
    """Publish events while the broker is down, which must be delivered, and open tickets.

    The broker is down for `down` seconds at least.
    """
    webhook = register_signed(company, receiver)
    for kind in ("web", "worker"):
        service.start(kind)
    until(lambda: backlog.last_pulse() is not None)
    until(lambda: answers(service, "/healthz"))
    stop_broker()
    stopped = time.monotonic()
    service.manage("ingest", "-", stdin=feed.text())
    opened = open_ticket(service, company)
    until(lambda: len(receiver.log) >= feed.updates, max(down, 180.0))
    time.sleep(max(0.0, stopped + down - time.monotonic()))
    meanwhile = len(receiver.log)
    start_broker()
    seconds = until(settled(receiver, feed.updates))
    return {
        **ledger.summary(receiver.log, feed.events(), webhook.secret),
        "received_while_down": meanwhile,
        "ticket_opened_while_down": opened,
        "seconds_after_it_was_back": round(seconds, 1),
    }


def flushed_broker(
    service: Service,
    company: Company,
    receiver: Receiver,
    feed: Feed,
    *,
    flush: Callable[[], None],
    times: int,
) -> dict[str, Any]:
    """Flush the broker `times` times while a feed is ingested."""
    webhook = register_signed(company, receiver)
    service.start("worker")
    until(lambda: backlog.last_pulse() is not None)
    feeder = threading.Thread(target=feed_until_taken, args=(service, feed.text()))
    feeder.start()
    for _ in range(times):
        time.sleep(0.5)
        flush()
    feeder.join()
    seconds = until(settled(receiver, feed.updates))
    return {
        **ledger.summary(receiver.log, feed.events(), webhook.secret),
        "flushes": times,
        "seconds_after_the_feed": round(seconds, 1),
    }


def restarted_database(
    service: Service,
    company: Company,
    receiver: Receiver,
    feed: Feed,
    *,
    stop_database: Callable[[], None],
    start_database: Callable[[], None],
) -> dict[str, Any]:
    """Restart PostgreSQL while a feed is ingested and delivered."""
    webhook = register_signed(company, receiver)
    answers = receiver.answer = LateAnswers(receiver)
    answers.hold(feed.updates // 4)
    service.start("worker")
    feeder = threading.Thread(target=feed_until_taken, args=(service, feed.text()))
    feeder.start()
    until(lambda: len(receiver.log) >= feed.updates // 4)
    connection.close()
    stop_database()
    start_database()
    at_the_restart = len(receiver.log)
    answers.release()
    first = until(lambda: len(receiver.log) > at_the_restart)
    feeder.join()
    seconds = first + until(patiently(settled(receiver, feed.updates)))
    return {
        **ledger.summary(receiver.log, feed.events(), webhook.secret),
        "received_at_the_restart": at_the_restart,
        "seconds_to_the_first_delivery": round(first, 1),
        "seconds_to_the_last": round(seconds, 1),
    }
