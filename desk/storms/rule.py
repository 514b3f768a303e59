"""Is this hour's heap of tickets about a carrier a storm? No database here."""

from collections.abc import Sequence
from math import exp, lgamma, log
from statistics import median

# Fewer are no storm, however rare they are otherwise.
LEAST = 10
TIMES_THE_USUAL = 4
# So seldom may an ordinary hour look like a storm.
CHANCE = 1e-5
# A carrier with no past has some tickets an hour too, before we call it a storm.
FLOOR = 1.0


def usual(past: Sequence[int]) -> float:
    """Tickets in such an hour, from the same hour of earlier weeks.

    The median: a storm of last week must not hide the one of today.
    """
    return max(median(past), FLOOR) if past else FLOOR


def is_storm(found: int, past: Sequence[int]) -> bool:
    expected = usual(past)
    return (
        found >= LEAST
        and found >= TIMES_THE_USUAL * expected
        and chance_of(found, expected) < CHANCE
    )


def is_over(found: int, expected: float) -> bool:
    """Is an hour with so many an ordinary one again?"""
    return found < 2 * expected


def chance_of(found: int, expected: float) -> float:
    """How likely so many or more are, where `expected` come independently of each other."""
    total, number = 0.0, found
    while True:
        term = exp(number * log(expected) - expected - lgamma(number + 1))
        total += term
        number += 1
        if number > expected and term <= total * 1e-9:
            return min(total, 1.0)
