"""Absence of one of two workers, frozen or cut off with deliveries in flight, and its return."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from django.db.models import F, Max, Min, Q

from companies.models import Company
from deliveries.models import Attempt
from tools.faults import in_flight, ledger
from tools.faults.feeding import register_signed
from tools.faults.kills import IN_FLIGHT_WITHIN_SECONDS, longest
from tools.faults.ledger import Event
from tools.faults.receiver import Receiver
from tools.faults.scenarios import LateAnswers, nothing_waits, until
from tools.faults.service import Service
from tools.faults.steady import Steady, longest_pause

AWAY, OTHER = "worker-1", "worker-2"
ANSWER_AFTER_SECONDS = 0.3
BURST = 400
# Time for the worker to send and record the rest after its return.
COME_BACK_SECONDS = 3.0


def worker_away(
    service: Service,
    company: Company,
    receiver: Receiver,
    *,
    away: Callable[[str], AbstractContextManager[None]],
    seconds: float,
    per_second: float,
    through: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Take the first of two workers `away` for `seconds` while events are published.

    It has all loops and lanes until then; `through` is a command that becomes it. It returns once
    the other one has recorded its claims. Then the other one is stopped, so that it has to continue
    alone.
    """
    webhook = register_signed(company, receiver)
    receiver.answer = LateAnswers(receiver, ANSWER_AFTER_SECONDS)
    service.start("worker", AWAY, through)
    until(lambda: bool(in_flight.loops_of(service, AWAY)))
    service.start("worker", OTHER)
    # The burst gives the worker more claims than it may have in flight.
    with Steady(company, per_second, burst=BURST) as steady:
        until(lambda: len(receiver.log) >= BURST // 20)
        at, loops, claimed_events, back_at = go_away(service, receiver, away, seconds)
        first, _ = longest_pause(receiver.log, at, back_at)
        time.sleep(COME_BACK_SECONDS)
        service.stop(OTHER)
        before = len(receiver.log)
        alone = until(lambda: len(receiver.log) > before)
    until(nothing_waits)
    # Attempts may fail on a busy machine and are retried: only the last one must succeed.
    numbers = Attempt.objects.values("delivery_id").annotate(
        last=Max("number"), succeeded=Min("number", filter=Q(status=200))
    )
    twice = numbers.filter(last__gt=F("succeeded"))
    return {
        **ledger.summary(receiver.log, steady.events, webhook.secret),
        "claimed_by_the_one_that_went": len(claimed_events),
        "seconds_to_the_first_delivery": round(first, 1),
        "seconds_to_the_last_of_those_claimed": longest(
            [ledger.seconds_until_last(receiver.log, claimed_events, at)]
        ),
        "seconds_until_it_delivers_alone": round(alone, 1),
        "repeats_after_it_was_back": ledger.repeats_since(receiver.log, back_at),
        "loops_that_went": loops,
        "repeats_at_most": len(claimed_events),
        "recorded_twice": twice.count(),
    }


def go_away(
    service: Service,
    receiver: Receiver,
    away: Callable[[str], AbstractContextManager[None]],
    seconds: float,
) -> tuple[float, int, set[Event], float]:
    """Take the worker away while it has sent deliveries that are not recorded.

    Returns the start of its absence in Unix time, the number of its loops, their claims, and the
    end of its absence.
    """
    deadline = time.monotonic() + IN_FLIGHT_WITHIN_SECONDS
    while time.monotonic() < deadline:
        with away(AWAY):
            at = time.time()
            loops = in_flight.loops_of(service, AWAY)
            claimed_events = in_flight.claimed(loops)
            if ledger.arrived_before(receiver.log, claimed_events, at):
                time.sleep(seconds)
                # On a busy machine the other one may take longer to send them.
                until(partial(in_flight.are_recorded, claimed_events))
                return at, len(loops), claimed_events, time.time()
        time.sleep(0.05)
    raise TimeoutError("the worker had nothing in flight")
