"""Times from commit to receiver, joined from what publishers and a receiver write."""

import math
from pathlib import Path

import pytest

from tools.bench.stopwatch import ARRIVED, PUBLISHED, Stopwatch, Way


class Desk:
    """Two files of publishers, and the arrivals that the receiver still has to hand over."""

    def __init__(self, folder: Path) -> None:
        self.files = [folder / "one", folder / "two"]
        self.notes = b""
        self.watch = Stopwatch(self.files, self.hand_over, count=10)
        self.watch.begin(start=100.0, every=60.0)

    def hand_over(self) -> bytes:
        notes, self.notes = self.notes, b""
        return notes

    def publish(self, number: int, at: float, file: int = 0, late: float = 0.0) -> None:
        with self.files[file].open("ab") as opened:
            opened.write(PUBLISHED.pack(number, at - late, at))

    def arrive(self, number: int, at: float) -> None:
        self.notes += ARRIVED.pack(number, at)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_an_event_belongs_to_the_minute_of_its_commit(desk: Desk) -> None:
    desk.publish(0, 159.0, late=0.5)
    desk.publish(1, 161.0, file=1)
    desk.arrive(0, 162.0)
    desk.arrive(1, 161.5)
    desk.watch.read()

    first, second = desk.watch.close(0), desk.watch.close(1)

    assert (first.ways, first.published, first.arrived) == ([Way(159.0, 162.0)], 1, 0)
    assert (second.ways, second.published, second.arrived) == ([Way(161.0, 161.5)], 1, 2)
    assert (first.late, second.late) == (0.5, 0.0)


def test_either_half_may_come_first_and_rows_may_be_torn(desk: Desk) -> None:
    desk.arrive(0, 110.0)
    desk.files[0].write_bytes(PUBLISHED.pack(0, 109.0, 109.0)[:10])
    desk.watch.read()
    desk.files[0].write_bytes(PUBLISHED.pack(0, 109.0, 109.0))
    desk.watch.read()

    assert desk.watch.close(0).ways == [Way(109.0, 110.0)]


def test_second_arrival_is_a_repeat_and_missing_one_stays_late(desk: Desk) -> None:
    desk.publish(0, 110.0)
    desk.publish(1, 111.0)
    desk.arrive(0, 110.5)
    desk.arrive(0, 115.0)
    desk.watch.read()

    assert desk.watch.close(0).ways == [Way(110.0, 110.5), Way(111.0, math.inf)]
    assert desk.watch.repeats == [115.0]
    assert (desk.watch.published, desk.watch.received) == (2, 1)


def test_event_before_the_start_is_in_no_minute(desk: Desk) -> None:
    desk.publish(0, 99.0)
    desk.arrive(0, 99.1)
    desk.watch.read()

    assert desk.watch.close(0).ways == []
    assert desk.watch.received == 1


@pytest.mark.parametrize(
    ("committed", "arrived", "under_way"),
    [(9.0, 9.9, False), (9.0, 10.1, True), (14.9, 15.1, True), (15.0, 15.1, False)],
)
def test_events_in_flight_during_a_kill(committed: float, arrived: float, under_way: bool) -> None:
    assert Way(committed, arrived).is_under_way(10.0, 15.0) == under_way
