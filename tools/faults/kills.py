"""kill -9 of a worker while its deliveries are in flight, and how long until all have arrived."""

import random
import time
from collections.abc import Iterable, Sequence
from typing import Any

from companies.models import Company
from tools.faults import in_flight, ledger
from tools.faults.feeding import event_numbered, publish_numbered, register_signed
from tools.faults.ledger import Event
from tools.faults.receiver import Receiver
from tools.faults.scenarios import LateAnswers, nothing_waits, patiently, until
from tools.faults.service import Service

# What is published before each kill must be in flight within this time.
IN_FLIGHT_WITHIN_SECONDS = 60.0


def kills(
    service: Service, company: Company, receiver: Receiver, *, times: int, events: int, seed: int
) -> dict[str, Any]:
    """Before each kill, `events` are published; the worker is restarted at once.

    `repeats_at_most` is what was claimed at the kills: nothing else may be sent twice.
    """
    dice = random.Random(seed)  # noqa: S311 - the same kills for the same seed
    webhook = register_signed(company, receiver)
    answers = receiver.answer = LateAnswers(receiver, 0)
    service.start("worker")
    claimed_at, seconds, sent = [], [], 0
    for turn in range(times):
        first = turn * events
        enough = first + dice.uniform(0.1, 0.6) * events
        answers.hold(enough)
        publish_numbered(company, range(first, first + events))
        until(lambda enough=enough: len(receiver.log) >= enough, IN_FLIGHT_WITHIN_SECONDS)
        _, moment, claimed = kill_in_flight(service, ["worker"])
        answers.release()
        service.start("worker")
        until(nothing_waits)
        claimed_at.append(len(claimed))
        sent += ledger.arrived_before(receiver.log, claimed, moment)
        seconds.append(ledger.seconds_until_last(receiver.log, claimed, moment))
    return {
        **ledger.summary(
            receiver.log, [event_numbered(each) for each in range(times * events)], webhook.secret
        ),
        "kills": times,
        "claimed_at_each_kill": claimed_at,
        "least_claimed_at_a_kill": min(claimed_at),
        "sent_and_not_recorded": sent,
        "repeats_at_most": sum(claimed_at),
        "seconds_to_the_last_of_each": [longest([each]) for each in seconds],
        "longest_seconds_to_the_last": longest(seconds),
    }


def kill_in_flight(service: Service, names: Sequence[str]) -> tuple[str, float, set[Event]]:
    """kill -9 of the first of these workers that has claimed something, as soon as one has.

    Returns its name, the Unix time of the kill and what it had claimed. A worker is stopped while
    its claims are looked at, so that it cannot finish them before the kill.
    """
    found: list[tuple[str, float, set[Event]]] = []

    def kill_one() -> bool:
        for name in names:
            with service.frozen(name):
                loops = in_flight.loops_of(service, name)
                if claimed := in_flight.claimed(loops):
                    found.append((name, time.time(), claimed))
                    service.kill(name)
                    # A statement that was running at the kill may have claimed more.
                    claimed |= in_flight.claimed(loops)
                    return True
        return False

    until(patiently(kill_one), IN_FLIGHT_WITHIN_SECONDS)
    return found[0]


def longest(seconds: Iterable[float | None]) -> float | None:
    """The longest of the times that are known; None where none is."""
    known = [each for each in seconds if each is not None]
    return round(max(known), 1) if known else None
