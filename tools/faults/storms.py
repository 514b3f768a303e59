"""Scenarios under load: random kills and clean restarts."""

import contextlib
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import OperationalError, connection

from companies.models import Company
from tools.faults import in_flight, ledger
from tools.faults.feeding import Feed, event_numbered, publish_numbered, register_signed
from tools.faults.kills import IN_FLIGHT_WITHIN_SECONDS, kill_in_flight, longest
from tools.faults.ledger import Event
from tools.faults.receiver import Receiver
from tools.faults.scenarios import LateAnswers, nothing_waits, patiently, until
from tools.faults.service import Service
from tools.faults.tickets import Opening

WORKERS = ("worker-1", "worker-2")
# The worker is killed more often, as it is the one with deliveries in flight.
VICTIMS = ("worker", "worker", "web", "backend")


class Kill(NamedTuple):
    """Kill of a process. `claimed` are its claims, or those of all workers if it is no worker."""

    victim: str
    at: float
    claimed: set[Event]


def storm(
    service: Service,
    company: Company,
    receiver: Receiver,
    feed: Feed,
    *,
    kills: int,
    kill_backend: Callable[[random.Random], None],
    seed: int = 1,
) -> dict[str, Any]:
    """Kill random processes by kill -9 with deliveries in flight, again and again.

    The feed is ingested in as many parts as there are kills, so that each kill hits some of it. Web
    is killed while tickets are opened.
    """
    dice = random.Random(seed)  # noqa: S311 - the same storm for the same seed
    webhook = register_signed(company, receiver)
    answers = receiver.answer = LateAnswers(receiver)
    for name in ("web", *WORKERS):
        service.start(name.partition("-")[0], name)
    victims = in_random_order(dice, kills)
    kill_log: list[Kill] = []
    with Opening(service, company) as opening:
        for turn, part in enumerate(feed.parts(kills)):
            enough = feed.updates * (turn + dice.uniform(0.1, 0.5)) / kills
            answers.hold(enough)
            feeder = threading.Thread(target=feed_until_taken, args=(service, part))
            feeder.start()
            until(lambda enough=enough: len(receiver.log) >= enough)
            until(lambda: bool(opening.in_flight))
            kill_log.append(kill_one(service, victims[turn], lambda: kill_backend(dice)))
            answers.release()
            feeder.join()
        ended = time.time()
    until(patiently(nothing_waits))
    hard = [kill for kill in kill_log if kill.victim in (*WORKERS, "backend")]
    seconds = [ledger.seconds_until_last(receiver.log, kill.claimed, kill.at) for kill in kill_log]
    return {
        **ledger.summary(receiver.log, feed.events(), webhook.secret),
        **opening.summary(),
        "kills": dict(Counter(kill.victim for kill in kill_log)),
        "claimed_at_each_kill": [len(kill.claimed) for kill in kill_log],
        "least_claimed_at_a_kill": min(len(kill.claimed) for kill in kill_log),
        "repeats_at_most": sum(len(kill.claimed) for kill in hard),
        "seconds_to_the_last_of_each": [longest([each]) for each in seconds],
        "longest_seconds_to_the_last": longest(seconds),
        "drained_seconds_after_the_last_part": round(time.time() - ended, 1),
    }


def in_random_order(dice: random.Random, count: int) -> list[str]:
    """Return `count` victims: each of VICTIMS, in random order, before any is repeated.

    The first is always a worker, as only its kills cause the repeats that a run must show.
    """
    rounds = -(-count // len(VICTIMS))
    victims = [each for _ in range(rounds) for each in dice.sample(VICTIMS, len(VICTIMS))]
    victims.remove("worker")
    return ["worker", *victims][:count]


def kill_one(service: Service, victim: str, kill_backend: Callable[[], None]) -> Kill:
    """Kill a process as soon as something is in flight, and restart it at once."""
    if victim == "worker":
        name, at, claimed = kill_in_flight(service, WORKERS)
        service.start("worker", name)
        return Kill(name, at, claimed)
    claimed_events: set[Event] = set()

    def anything_in_flight() -> bool:
        claimed_events.update(in_flight.claimed())
        return bool(claimed_events)

    until(patiently(anything_in_flight), IN_FLIGHT_WITHIN_SECONDS)
    at = time.time()
    if victim == "backend":
        kill_backend()
    else:
        service.kill(victim)
        service.start(victim)
    return Kill(victim, at, claimed_events)


def feed_until_taken(service: Service, text: bytes) -> None:
    """Ingest a file; repeat it until it succeeds, as an operator does after an outage."""
    while True:
        try:
            service.manage("ingest", "-", stdin=text)
        except subprocess.CalledProcessError:
            time.sleep(1)
        else:
            return


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
    webhook = register_signed(company, receiver)
    service.start("worker")
    start = time.monotonic()
    every = events // (times + 1)
    stopping = []
    turn = threading.Lock()
    for number in range(events):
        if number and number % every == 0 and len(stopping) < times:
            stopping.append(threading.Thread(target=restart, args=(service, turn)))
            stopping[-1].start()
        publish_numbered(company, [number])
        time.sleep(max(0.0, start + (number + 1) / per_second - time.monotonic()))
    for thread in stopping:
        thread.join()
    seconds = until(nothing_waits)
    return {
        **ledger.summary(
            receiver.log, [event_numbered(number) for number in range(events)], webhook.secret
        ),
        "restarts": len(stopping),
        "events_per_s": round(events / (time.monotonic() - start - seconds)),
        "drained_seconds_after_the_last": round(seconds, 1),
    }


def restart(service: Service, turn: threading.Lock) -> None:
    # Restarts do not overlap: the next one waits for the last.
    with turn:
        service.stop("worker")
        service.start("worker")
