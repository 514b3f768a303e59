"""Times from commit to receiver under a load that lasts: rows are read from files and forgotten.

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

# Number, when it was due, when it was committed.
PUBLISHED = struct.Struct("3d")
# Number, when it came.
ARRIVED = struct.Struct("2d")
# Rows are written and looked for so often: a minute's at once would be felt by everybody.
LOOK_EVERY_SECONDS = 1.0


class Way(NamedTuple):
    """The way of an event from commit to first arrival, which is infinite while it has not come."""

    committed: float
    arrived: float

    @property
    def seconds(self) -> float:
        # The row can be on its way before its publisher looks at the clock.
        return max(0.0, self.arrived - self.committed)

    def is_under_way(self, since: float, until: float) -> bool:
        """Return whether it was on its way at any time between two moments."""
        return self.committed < until and self.arrived > since


@dataclass
class Taken:
    """The record of a minute: ways of the events committed in it, and counts.

    `late` is how long after its time the slowest commit came.
    """

    published: int = 0
    arrived: int = 0
    late: float = 0.0
    ways: list[Way] = field(default_factory=list)


class Tail:
    """The end of a file, read as it grows."""

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
    """`read` regularly, and `close` each minute once its events have had the time to arrive."""

    def __init__(self, files: Collection[Path], hand_over: Callable[[], bytes], count: int) -> None:
        self.tails = [Tail(each) for each in files]
        self.hand_over = hand_over
        self.minutes: defaultdict[int, Taken] = defaultdict(Taken)
        # Halves of ways whose other half has not been read.
        self.committed: dict[int, float] = {}
        self.arrived: dict[int, float] = {}
        self.seen = bytearray(count)
        self.published = 0
        # Arrivals of repeats.
        self.repeats: list[float] = []

    def begin(self, start: float, every: float) -> None:
        """Count minutes of `every` seconds from `start`; what comes before is in minute -1."""
        self.start, self.every = start, every

    @property
    def received(self) -> int:
        """Count the events that have come, repeats left out."""
        return self.seen.count(1)

    def minute(self, at: float) -> int:
        return max(-1, int((at - self.start) // self.every))

    def read(self) -> None:
        for each, at in ARRIVED.iter_unpack(self.hand_over()):
            number = int(each)
            if self.seen[number]:
                self.repeats.append(at)
                continue
            self.seen[number] = 1
            self.arrived[number] = at
            self.minutes[self.minute(at)].arrived += 1
        for tail in self.tails:
            for each, due, at in tail.rows():
                self.committed[int(each)] = at
                self.published += 1
                taken = self.minutes[self.minute(at)]
                taken.published += 1
                taken.late = max(taken.late, at - due)
        for number in self.committed.keys() & self.arrived.keys():
            way = Way(self.committed.pop(number), self.arrived.pop(number))
            self.minutes[self.minute(way.committed)].ways.append(way)

    def close(self, minute: int) -> Taken:
        """Return the record of it; an event that has not come by now is for ever late."""
        taken = self.minutes.pop(minute, Taken())
        taken.ways += [
            Way(at, math.inf) for at in self.committed.values() if self.minute(at) == minute
        ]
        return taken
