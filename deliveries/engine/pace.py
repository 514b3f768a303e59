"""Concurrency control per receiver: a window that follows its response times. Pure.

Concurrency pays as long as it adds throughput. A saturated receiver queues further requests, so
that each takes longer. Response times are therefore compared with those measured when few requests
are in flight: while both are about the same the window grows; once the time has grown by half, the
window shrinks in proportion.
Why: decision page engine-slots-are-shared-by-time.
"""

import math

# Window of a webhook that has never answered.
FIRST_SIZE = 2
LARGEST_SIZE = 1024
# A receiver that takes longer is slow: its window is limited to SLOW_SIZE.
SLOW_SECONDS = 1.0
SLOW_SIZE = 16
# Allowed response time: TOLERANCE times the unloaded one, plus SLACK_SECONDS for the engine's own
# turns, which are part of the measured time.
TOLERANCE = 1.5
SLACK_SECONDS = 0.015
# Weight of the latest response in an average.
WEIGHT = 0.2
# Interval at which unloaded response times are measured again, with a quarter of the window.
MEASURE_EVERY_SECONDS = 10.0
MEASURE_SHARE = 4
MEASURED_ANSWERS = 3


class Pace:
    """Window of one webhook. Times are in seconds; `now` is monotonic time."""

    def __init__(self, now: float) -> None:
        self.size: float = FIRST_SIZE
        self.seconds: float | None = None
        self._unloaded: float | None = None
        # The window doubles with each round until the first sign of a queue.
        self._doubling = True
        self._measure_at = now + MEASURE_EVERY_SECONDS
        self._measuring = 0
        self._begin_round()

    @property
    def slow(self) -> bool:
        """True if responses take longer than SLOW_SECONDS, or if there has been none."""
        return self.seconds is None or self.seconds > SLOW_SECONDS

    def limit(self, now: float) -> int:
        """Return how many requests may be in flight."""
        if self._full and now >= self._measure_at:
            self._measuring = max(MEASURED_ANSWERS, int(self.size) // MEASURE_SHARE)
            self._measure_at = math.inf
        return self._few if self._measuring else max(1, int(self.size))

    def start(self, in_flight: int) -> bool:
        """Count a new request, the `in_flight`-th; True if it measures the unloaded time."""
        if in_flight >= int(self.size):
            self._full = True
        return in_flight <= self._few

    def answered(self, seconds: float, unloaded: bool, now: float) -> None:
        """Learn from a successful response."""
        self.seconds = moving_average(self.seconds, seconds)
        if unloaded or self._unloaded is None:
            self._unloaded = moving_average(self._unloaded, seconds)
            if self._measuring:
                self._measuring -= 1
                if not self._measuring:
                    self._measure_at = now + MEASURE_EVERY_SECONDS
        self._total += seconds
        self._count += 1
        if self._count >= self._round:
            self._end_round()

    def refused(self, seconds: float) -> None:
        """Halve the window after an error response."""
        self.seconds = moving_average(self.seconds, seconds)
        self.size = max(1.0, self.size / 2)
        self._doubling = False
        self._begin_round()

    def unanswered(self, seconds: float) -> None:
        """Learn from a request without a response, and probe."""
        self.seconds = moving_average(self.seconds, seconds)
        self.probe()

    def probe(self) -> None:
        """Drop to one request at a time until the receiver responds."""
        self.size = 1.0
        self._doubling = True
        self._begin_round()

    @property
    def _few(self) -> int:
        return max(1, int(self.size) // MEASURE_SHARE)

    def _begin_round(self) -> None:
        """Begin a round, which lasts for one window of responses."""
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


def moving_average(average: float | None, seconds: float) -> float:
    return seconds if average is None else average + WEIGHT * (seconds - average)
