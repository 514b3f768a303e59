"""The rule by which an hour's tickets about a carrier are a storm."""

import pytest

from desk.storms.rule import CHANCE, chance_of, is_over, is_storm, usual


@pytest.mark.parametrize(
    ("tickets", "past", "storm"),
    [
        # A quiet night.
        (3, [0, 0, 0, 0], False),
        (9, [0, 0, 0, 0], False),
        # A normal Monday morning, and a lively one.
        (40, [38, 41, 35, 44], False),
        (95, [38, 41, 35, 44], False),
        # A real storm, by night and by day.
        (10, [0, 0, 0, 0], True),
        (160, [38, 41, 35, 44], True),
        (400, [38, 41, 35, 44], True),
        # Four times the usual, which still happens by chance now and then.
        (12, [3, 3, 3, 3], False),
        (16, [3, 3, 3, 3], True),
        # Last week's storm does not hide today's, and a holiday does not cause one.
        (200, [400, 41, 35, 44], True),
        (40, [38, 0, 35, 44], False),
        # A carrier without earlier complaints.
        (25, [], True),
    ],
)
def test_tells_a_storm_from_an_hour_with_many(tickets: int, past: list[int], storm: bool) -> None:
    assert is_storm(tickets, past) == storm


def test_takes_the_median_and_no_less_than_one() -> None:
    assert [usual([3, 0, 9, 4]), usual([0, 0, 0, 40]), usual([])] == [3.5, 1.0, 1.0]


def test_an_hour_is_ordinary_again_below_twice_the_usual() -> None:
    assert [is_over(tickets, 4.0) for tickets in (0, 7, 8, 20)] == [True, True, False, False]


@pytest.mark.parametrize(
    ("tickets", "expected", "chance"),
    [(0, 2.0, 1.0), (1, 2.0, 0.8646647), (10, 1.0, 1.1142547e-7), (600, 500.0, 7.6e-6)],
)
def test_reckons_with_tickets_that_come_independently(
    tickets: int, expected: float, chance: float
) -> None:
    assert chance_of(tickets, expected) == pytest.approx(chance, rel=0.1)


def test_an_ordinary_hour_looks_like_a_storm_less_than_once_in_a_hundred_thousand() -> None:
    for expected in (1.0, 2.5, 8.0, 40.0):
        least = next(n for n in range(10_000) if is_storm(n, [expected]))
        assert chance_of(least, expected) < CHANCE
