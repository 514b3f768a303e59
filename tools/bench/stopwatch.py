"""Latencies from commit to receiver under a long load: rows are read from files and discarded.

Publishers and a brief receiver (tools/bench/sink.py) write rows of fixed size, in which times are
on the monotonic clock and numbers are numbers of events. No Django.
"""

import math
import struct
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

# Number, due time, commit time.
PUBLISHED = struct.Struct("3d")
# Number, arrival time.
ARRIVED = struct.Struct("2d")
# Interval of writing and reading rows: a whole minute's at once would disturb the measurement.
LOOK_EVERY_SECONDS = 1.0


class Way(NamedTuple):
    """Commit and first arrival of an event; the arrival is infinite until then."""

    committed: float
    arrived: float

    @property
    def seconds(self) -> float:
        # An event can arrive before its publisher has read the clock.
        return max(0.0, self.arrived - self.committed)

    def is_under_way(self, since: float, until: float) -> bool:
        """Return True if the event was in flight at any time between two moments."""
        return self.committed < until and self.arrived > since


@dataclass
class MinuteTimes:
    """Record of a minute: events committed in it, and counts.

    `late` is the delay of the latest commit.
    """

    published: int = 0
    arrived: int = 0
    late: float = 0.0
    ways: list[Way] = field(default_factory=list)


class Tail:
    """Reader of a file that grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read = 0

    def rows(self) -> Iterator[tuple[float, float, float]]:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self.read)
            data = file.read()
        whole = len(data) - len(data) % PUBLISHED.size
        self.read += whole
        yield from PUBLISHED.iter_unpack(data[:whole])


class Stopwatch:
    """Stopwatch: call `read` regularly, and `close` a minute once its events should be there."""

    def __init__(self, files: Collection[Path], hand_over: Callable[[], bytes], count: int) -> None:
        self.tails = [Tail(each) for each in files]
        self.hand_over = hand_over
        self.minutes: defaultdict[int, MinuteTimes] = defaultdict(MinuteTimes)
        # Commits of events whose arrival was not read yet, and the reverse.
        self.committed: dict[int, float] = {}
        self.arrived: dict[int, float] = {}
        self.arrival_flags = bytearray(count)
        self.published = 0
        # Times of repeated arrivals.
        self.repeats: list[float] = []

    def begin(self, start: float, every: float) -> None:
        """Count minutes of `every` seconds from `start`; earlier events are in minute -1."""
        self.start, self.every = start, every

    @property
    def received(self) -> int:
        """Number of events that have arrived, without repeats."""
        return self.arrival_flags.count(1)

    def minute(self, at: float) -> int:
        return max(-1, int((at - self.start) // self.every))

    def read(self) -> None:
        for each, at in ARRIVED.iter_unpack(self.hand_over()):
            number = int(each)
            if self.arrival_flags[number]:
                self.repeats.append(at)
                continue
            self.arrival_flags[number] = 1
            self.arrived[number] = at
            self.minutes[self.minute(at)].arrived += 1
        for tail in self.tails:
            for each, due, at in tail.rows():
                self.committed[int(each)] = at
                self.published += 1
                minute = self.minutes[self.minute(at)]
                minute.published += 1
                minute.late = max(minute.late, at - due)
        for number in self.committed.keys() & self.arrived.keys():
            way = Way(self.committed.pop(number), self.arrived.pop(number))
            self.minutes[self.minute(way.committed)].ways.append(way)

    def close(self, minute: int) -> MinuteTimes:
        """Return and forget a minute's record; events that have not arrived count as infinite."""
        record = self.minutes.pop(minute, MinuteTimes())
        record.ways += [
            Way(at, math.inf) for at in self.committed.values() if self.minute(at) == minute
        ]
        return record
