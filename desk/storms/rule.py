"""Rule that decides whether an hour's tickets about a carrier are a storm; pure functions."""

from collections.abc import Sequence
from math import exp, lgamma, log
from statistics import median

# Minimum tickets of a storm, however rare they usually are.
LEAST = 10
TIMES_THE_USUAL = 4
# Highest accepted probability that an ordinary hour is taken for a storm.
CHANCE = 1e-5
# Assumed tickets per hour of a carrier without history.
FLOOR = 1.0


def usual(past: Sequence[int]) -> float:
    """Return the expected tickets of an hour, from the same hour of earlier weeks.

    The median is used, so that a storm last week does not hide one today.
    """
    return max(median(past), FLOOR) if past else FLOOR


def is_storm(count: int, past: Sequence[int]) -> bool:
    expected = usual(past)
    return (
        count >= LEAST
        and count >= TIMES_THE_USUAL * expected
        and chance_of(count, expected) < CHANCE
    )


def is_over(count: int, expected: float) -> bool:
    """Tell whether an hour with this many tickets is ordinary again."""
    return count < 2 * expected


def chance_of(count: int, expected: float) -> float:
    """Return the Poisson probability of `count` or more tickets, where `expected` are usual."""
    total, number = 0.0, count
    while True:
        term = exp(number * log(expected) - expected - lgamma(number + 1))
        total += term
        number += 1
        if number > expected and term <= total * 1e-9:
            return min(total, 1.0)
