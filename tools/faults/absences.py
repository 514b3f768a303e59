"""One of two workers stands still or is cut off, with deliveries in flight, and comes back."""

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
# Time for what the worker still sends and records after it is back.
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
    """The first of two workers is `away` for so many seconds while events come in.

    It has all the loops and lanes until then; `through` is a command that becomes it. It comes back
    once the other one has recorded what it had claimed. Then the other one is stopped, so it has to
    go on alone.
    """
    webhook = register_signed(company, receiver)
    receiver.answer = LateAnswers(receiver, ANSWER_AFTER_SECONDS)
    service.start("worker", AWAY, through)
    until(lambda: bool(in_flight.loops_of(service, AWAY)))
    service.start("worker", OTHER)
    # The worker goes while it still has more claimed than it may have in flight.
    with Steady(company, per_second, burst=BURST) as steady:
        until(lambda: len(receiver.log) >= BURST // 20)
        at, loops, held, back_at = go_away(service, receiver, away, seconds)
        first, _ = longest_pause(receiver.log, at, back_at)
        time.sleep(COME_BACK_SECONDS)
        service.stop(OTHER)
        before = len(receiver.log)
        alone = until(lambda: len(receiver.log) > before)
    until(nothing_waits)
    # A busy machine makes attempts fail, and those are retried: a success must be the last one.
    numbers = Attempt.objects.values("delivery_id").annotate(
        last=Max("number"), succeeded=Min("number", filter=Q(status=200))
    )
    twice = numbers.filter(last__gt=F("succeeded"))
    return {
        **ledger.summary(receiver.log, steady.events, webhook.secret),
        "claimed_by_the_one_that_went": len(held),
        "seconds_to_the_first_delivery": round(first, 1),
        "seconds_to_the_last_of_those_claimed": longest(
            [ledger.seconds_until_last(receiver.log, held, at)]
        ),
        "seconds_until_it_delivers_alone": round(alone, 1),
        "repeats_after_it_was_back": ledger.repeats_since(receiver.log, back_at),
        "loops_that_went": loops,
        "repeats_at_most": len(held),
        "recorded_twice": twice.count(),
    }


def go_away(
    service: Service,
    receiver: Receiver,
    away: Callable[[str], AbstractContextManager[None]],
    seconds: float,
) -> tuple[float, int, set[Event], float]:
    """Have it go away while it has sent something that is not recorded.

    Returns when it went, in Unix time, how many loops it has, what they had claimed, and when it
    came back.
    """
    deadline = time.monotonic() + IN_FLIGHT_WITHIN_SECONDS
    while time.monotonic() < deadline:
        with away(AWAY):
            at = time.time()
            loops = in_flight.loops_of(service, AWAY)
            held = in_flight.claimed(loops)
            if ledger.arrived_before(receiver.log, held, at):
                time.sleep(seconds)
                # On a busy machine the other one may take longer to send it.
                until(partial(in_flight.are_recorded, held))
                return at, len(loops), held, time.time()
        time.sleep(0.05)
    raise TimeoutError("the worker had nothing in flight")
