"""Scenarios under load: random kills, and clean restarts."""

import contextlib
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError, connection, transaction

from companies.models import Company
from deliveries import publishing
from deliveries.engine.rooms import SLOTS
from faults import ledger
from faults.feeding import Feed
from faults.receiver import Receiver
from faults.scenarios import nothing_waits, slowly, until
from faults.service import Service
from shipments.event_types.status import TRACKING_SIMPLE
from webhooks import services

VICTIMS = ("worker-1", "worker-2", "beat", "web", "backend")
WORKERS = ("worker-1", "worker-2")


def storm(
    service: Service,
    company: Company,
    receiver: Receiver,
    feed: Feed,
    *,
    kills: int,
    pause: tuple[float, float],
    kill_backend: Callable[[random.Random], None],
    seed: int = 1,
) -> dict[str, Any]:
    """Kill a random process with SIGKILL every few seconds while a feed is ingested."""
    dice = random.Random(seed)  # noqa: S311 - repeatable by its seed
    services.register_webhook(company, type_id=TRACKING_SIMPLE.id, url=f"{receiver.url}/3")
    receiver.answer = slowly(receiver)
    for name in ("beat", "web", *WORKERS):
        service.start(name.partition("-")[0], name)
    feeder = threading.Thread(target=feed_until_taken, args=(service, feed.text()))
    feeder.start()
    killed: Counter[str] = Counter()
    while killed.total() < kills:
        time.sleep(dice.uniform(*pause))
        victim = dice.choice(VICTIMS)
        killed[victim] += 1
        if victim == "backend":
            kill_backend(dice)
        else:
            service.kill(victim)
            service.start(victim.partition("-")[0], victim)
    feeder.join()
    seconds = until(patiently(nothing_waits))
    in_flight = sum(killed[name] for name in (*WORKERS, "backend")) * SLOTS
    return {
        **ledger.summary(receiver.log, feed.updates),
        "kills": dict(killed),
        "repeats_at_most": in_flight,
        "drained_seconds_after_the_last_kill": round(seconds, 1),
    }


def feed_until_taken(service: Service, text: bytes) -> None:
    """Ingest a file; repeat it until it succeeds, as an operator does after an outage."""
    while True:
        try:
            service.manage("ingest", "-", given=text)
        except subprocess.CalledProcessError:
            time.sleep(1)
        else:
            return


def patiently(ask: Callable[[], bool]) -> Callable[[], bool]:
    """Treat errors of a database that is restarting as False."""

    def answer() -> bool:
        try:
            return ask()
        except (OperationalError, InterfaceError):
            connection.close()
            return False

    return answer


def terminate_backend(dice: random.Random) -> None:
    """Terminate a random connection to the database."""
    with contextlib.suppress(OperationalError), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY pid"
        )
        if pids := [pid for (pid,) in cursor.fetchall()]:
            cursor.execute("SELECT pg_terminate_backend(%s)", [dice.choice(pids)])


def restarts(
    service: Service,
    company: Company,
    receiver: Receiver,
    *,
    events: int,
    per_second: float,
    times: int,
) -> dict[str, Any]:
    """Publish events at a steady rate, one per transaction, and restart the worker cleanly."""
    services.register_webhook(company, type_id=TRACKING_SIMPLE.id, url=f"{receiver.url}/3")
    service.start("beat")
    service.start("worker")
    start = time.monotonic()
    every = events // (times + 1)
    stopping = []
    turn = threading.Lock()
    for number in range(events):
        if number and number % every == 0 and len(stopping) < times:
            stopping.append(threading.Thread(target=restart, args=(service, turn)))
            stopping[-1].start()
        publish_one(company, number)
        time.sleep(max(0.0, start + (number + 1) / per_second - time.monotonic()))
    for thread in stopping:
        thread.join()
    seconds = until(nothing_waits)
    return {
        **ledger.summary(receiver.log, events),
        "restarts": len(stopping),
        "events_per_s": round(events / (time.monotonic() - start - seconds)),
        "drained_seconds_after_the_last": round(seconds, 1),
    }


def restart(service: Service, turn: threading.Lock) -> None:
    # Restarts do not overlap: the next one waits for the last.
    with turn:
        service.stop("worker")
        service.start("worker")


def publish_one(company: Company, number: int) -> None:
    shipment_id = number % 97
    payload = {
        "type": TRACKING_SIMPLE.name,
        "data": {"shipment_id": shipment_id, "location": f"{number // 97}"},
    }
    news = publishing.News(
        company.pk, TRACKING_SIMPLE.id, shipment_id, "", publishing.encode(payload)
    )
    with transaction.atomic():
        publishing.publish([news])
