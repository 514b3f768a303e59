"""How many requests at once a receiver answers well, learnt from its answers. Pure.

More requests at once are worth having as long as they bring more answers. A receiver that is busy
queues what comes on top, so each answer takes longer instead. The time of an answer is therefore
compared with the time it takes when few requests are in flight: while both are about the same, the
window grows. Where the time has grown by half, the window shrinks in proportion.
Why: decision page engine-slots-are-shared-by-time.
"""

import math

# A webhook that has never answered starts with so many.
FIRST_SIZE = 2
LARGEST_SIZE = 1024
# A receiver that takes longer is slow, and its window may not grow beyond SLOW_SIZE.
SLOW_SECONDS = 1.0
SLOW_SIZE = 16
# An answer may take so many times as long as an unloaded one, and so much longer: below that, the
# engine's own turns are part of the time.
TOLERANCE = 1.5
SLACK_SECONDS = 0.015
# How much the latest answer counts in an average.
WEIGHT = 0.2
# How often to measure unloaded answers again, with a quarter of the window.
MEASURE_EVERY_SECONDS = 10.0
MEASURE_SHARE = 4
MEASURED_ANSWERS = 3


class Pace:
    """The window of one webhook. Times are in seconds; `now` is a monotonic clock."""

    def __init__(self, now: float) -> None:
        self.size: float = FIRST_SIZE
        self.seconds: float | None = None
        self._unloaded: float | None = None
        # Until the first sign of a queue the window doubles with each round.
        self._doubling = True
        self._measure_at = now + MEASURE_EVERY_SECONDS
        self._measuring = 0
        self._begin_round()

    @property
    def slow(self) -> bool:
        """Whether answers take longer than SLOW_SECONDS; also while there has been none."""
        return self.seconds is None or self.seconds > SLOW_SECONDS

    def limit(self, now: float) -> int:
        """How many requests may be in flight."""
        if self._full and now >= self._measure_at:
            self._measuring = max(MEASURED_ANSWERS, int(self.size) // MEASURE_SHARE)
            self._measure_at = math.inf
        return self._few if self._measuring else max(1, int(self.size))

    def start(self, in_flight: int) -> bool:
        """Note a request that is the `in_flight`-th; True if its answer will be unloaded."""
        if in_flight >= int(self.size):
            self._full = True
        return in_flight <= self._few

    def answered(self, seconds: float, unloaded: bool, now: float) -> None:
        """Learn from a request that was answered with success."""
        self.seconds = mixed(self.seconds, seconds)
        if unloaded or self._unloaded is None:
            self._unloaded = mixed(self._unloaded, seconds)
            if self._measuring:
                self._measuring -= 1
                if not self._measuring:
                    self._measure_at = now + MEASURE_EVERY_SECONDS
        self._total += seconds
        self._count += 1
        if self._count >= self._round:
            self._end_round()

    def refused(self, seconds: float) -> None:
        """Learn from an answer that was no success: half as many from now on."""
        self.seconds = mixed(self.seconds, seconds)
        self.size = max(1.0, self.size / 2)
        self._doubling = False
        self._begin_round()

    def unanswered(self, seconds: float) -> None:
        """Learn from a request without an answer: one at a time, until there is an answer."""
        self.seconds = mixed(self.seconds, seconds)
        self.probe()

    def probe(self) -> None:
        """One at a time, until there is an answer."""
        self.size = 1.0
        self._doubling = True
        self._begin_round()

    @property
    def _few(self) -> int:
        return max(1, int(self.size) // MEASURE_SHARE)

    def _begin_round(self) -> None:
        """A round is as many answers as there may be requests in flight."""
        self._round = max(1, int(self.size))
        self._total = 0.0
        self._count = 0
        self._full = False

    def _end_round(self) -> None:
        mean = self._total / self._count
        allowed = TOLERANCE * (self._unloaded or mean) + SLACK_SECONDS
        if mean > allowed:
            self.size = max(1.0, self.size * max(allowed / mean, 0.5))
            self._doubling = False
        elif self._full:
            self.size += self.size if self._doubling else math.sqrt(self.size)
        self.size = min(self.size, SLOW_SIZE if self.slow else LARGEST_SIZE)
        self._begin_round()


def mixed(average: float | None, seconds: float) -> float:
    return seconds if average is None else average + WEIGHT * (seconds - average)
