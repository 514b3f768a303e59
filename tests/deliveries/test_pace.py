"""A webhook's window adapts to its receiver, simulated second by second."""

import heapq
from collections.abc import Callable
from itertools import count

import pytest

from deliveries.engine.pace import FIRST_SIZE, LARGEST_SIZE, SLOW_SIZE, Pace

Receiver = Callable[[float], float]


def serving(workers: int, seconds: float) -> Receiver:
    """Return a receiver with N workers: a function from a request's time to its answer's."""
    free = [0.0] * workers

    def answer(at: float) -> float:
        begins = max(at, heapq.heappop(free))
        heapq.heappush(free, begins + seconds)
        return begins + seconds

    return answer


def elastic(seconds: float) -> Receiver:
    """Return a receiver that takes as long for a thousand at once as for one."""
    return lambda at: at + seconds


def drain(receiver: Receiver, seconds: float, pace: Pace | None = None) -> list[float]:
    """Send without end for some seconds; returns the durations of the answers, in order."""
    pace = pace or Pace(0.0)
    number = count()
    flying: list[tuple[float, int, float, bool]] = []
    took: list[float] = []
    now = 0.0
    while now < seconds:
        while len(flying) < pace.limit(now):
            unloaded = pace.start(len(flying) + 1)
            heapq.heappush(flying, (receiver(now), next(number), now, unloaded))
        now, _, started, unloaded = heapq.heappop(flying)
        took.append(now - started)
        pace.answered(now - started, unloaded, now)
    return took


@pytest.mark.parametrize("seconds", [0.05, 0.2])
def test_uses_all_that_a_large_receiver_can_do(seconds: float) -> None:
    pace = Pace(0.0)

    drain(elastic(seconds), 5.0, pace)

    assert pace.size == LARGEST_SIZE


@pytest.mark.parametrize("workers", [1, 10, 100])
def test_does_not_trample_a_small_receiver(workers: int) -> None:
    took = drain(serving(workers, 0.1), 60.0)

    assert len(took) >= 0.9 * 60 * workers / 0.1
    slowest = sorted(took)[int(len(took) * 0.99)]
    assert slowest < 0.75


def test_does_not_believe_in_its_own_queue_after_an_hour() -> None:
    pace = Pace(0.0)

    took = drain(serving(10, 0.1), 3600.0, pace)

    assert pace.size < 30
    assert max(took[-1000:]) < 0.4


def test_follows_a_receiver_that_takes_longer_than_it_did() -> None:
    pace = Pace(0.0)
    drain(elastic(0.05), 5.0, pace)
    # The simulation's time starts again.
    pace._measure_at = 0.0

    took = drain(elastic(0.2), 30.0, pace)

    assert pace.size == LARGEST_SIZE
    assert len(took) > 0.5 * 30 * LARGEST_SIZE / 0.2


def test_a_stranger_begins_with_two_and_a_slow_one_stays_small() -> None:
    pace = Pace(0.0)
    assert (pace.limit(0.0), pace.slow) == (FIRST_SIZE, True)

    drain(elastic(4.5), 300.0, pace)

    assert pace.slow
    assert pace.limit(300.0) <= SLOW_SIZE


def test_a_request_without_an_answer_leaves_one_at_a_time() -> None:
    pace = Pace(0.0)
    drain(elastic(0.05), 5.0, pace)

    pace.unanswered(5.0)

    assert pace.limit(10.0) == 1
    assert pace.slow


def test_an_answer_that_is_no_success_halves_the_window() -> None:
    pace = Pace(0.0)
    drain(elastic(0.05), 5.0, pace)

    pace.refused(0.05)

    assert pace.limit(5.1) == LARGEST_SIZE // 2
    for _ in range(20):
        pace.refused(0.05)
    assert pace.limit(5.1) == 1


def test_a_window_that_is_not_used_does_not_grow() -> None:
    pace = Pace(0.0)
    for at in range(100):
        pace.answered(0.01, pace.start(1), float(at))

    assert pace.limit(100.0) == FIRST_SIZE
