"""Kills of a worker by kill -9 with deliveries in flight, and the time until all have arrived."""

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

# Events published before a kill must be in flight within this time.
IN_FLIGHT_WITHIN_SECONDS = 60.0


def kills(
    service: Service, company: Company, receiver: Receiver, *, times: int, events: int, seed: int
) -> dict[str, Any]:
    """Publish `events` before each kill, and restart the worker at once.

    `repeats_at_most` counts what was claimed at the kills: nothing else may be sent twice.
    """
    dice = random.Random(seed)  # noqa: S311 - the same kills for the same seed
    webhook = register_signed(company, receiver)
    answers = receiver.answer = LateAnswers(receiver, 0)
    service.start("worker")
    claimed_at, seconds, sent_count = [], [], 0
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
        sent_count += ledger.arrived_before(receiver.log, claimed, moment)
        seconds.append(ledger.seconds_until_last(receiver.log, claimed, moment))
    return {
        **ledger.summary(
            receiver.log, [event_numbered(each) for each in range(times * events)], webhook.secret
        ),
        "kills": times,
        "claimed_at_each_kill": claimed_at,
        "least_claimed_at_a_kill": min(claimed_at),
        "sent_and_not_recorded": sent_count,
        "repeats_at_most": sum(claimed_at),
        "seconds_to_the_last_of_each": [longest([each]) for each in seconds],
        "longest_seconds_to_the_last": longest(seconds),
    }


def kill_in_flight(service: Service, names: Sequence[str]) -> tuple[str, float, set[Event]]:
    """Kill by kill -9 the first of these workers that has claims.

    Returns its name, the Unix time of the kill and its claims. A worker is frozen while its claims
    are read, so that it cannot finish them before the kill.
    """
    kill_records: list[tuple[str, float, set[Event]]] = []

    def kill_one() -> bool:
        for name in names:
            with service.frozen(name):
                loops = in_flight.loops_of(service, name)
                if claimed := in_flight.claimed(loops):
                    kill_records.append((name, time.time(), claimed))
                    service.kill(name)
                    # A statement running at the kill may have claimed more.
                    claimed |= in_flight.claimed(loops)
                    return True
        return False

    until(patiently(kill_one), IN_FLIGHT_WITHIN_SECONDS)
    return kill_records[0]


def longest(seconds: Iterable[float | None]) -> float | None:
    """Return the longest of the known times; None without any."""
    times = [each for each in seconds if each is not None]
    return round(max(times), 1) if times else None
