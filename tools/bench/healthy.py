"""Healthy company: a steady rate of events, and their latency from commit to receiver.

Unlike tools/bench/steady.py it does not wait for all of them: an event that has not arrived after
a while has infinite latency. The books are balanced at the end, when all have arrived.
"""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.bench import books, draining, load, steady
from tools.bench.books import Books
from tools.bench.measure import percentile
from tools.bench.progress import until, within
from tools.bench.receiver import Arrival, Receiver
from tools.bench.rig import Rig
from tools.bench.steady import Load

# Counted from the commit of the last event.
PATIENCE_SECONDS = 20.0


@dataclass(frozen=True)
class Healthy:
    """Seconds from commit to receiver of each timed event; infinite after PATIENCE_SECONDS."""

    seconds: list[float]
    late: float

    @property
    def arrived(self) -> int:
        return sum(each < math.inf for each in self.seconds)

    def ms(self, percent: float) -> float | None:
        """Return the percentile in milliseconds; None if it is infinite."""
        value = percentile(self.seconds, percent)
        return None if value == math.inf else round(1000 * value, 1)

    def row(self) -> dict[str, object]:
        return {
            "due": len(self.seconds),
            "arrived": self.arrived,
            "p50_ms": self.ms(50),
            "p99_ms": self.ms(99),
            "latest_commit_ms": round(1000 * self.late, 1),
        }


class HealthyCompany:
    """Group of companies, one for each URL, which get events in turn."""

    def __init__(self, rig: Rig, receiver: Receiver, urls: Sequence[str], load_plan: Load) -> None:
        self.rig, self.receiver, self.load = rig, receiver, load_plan
        self.webhooks = load.webhooks(urls)
        self.ids = [webhook.pk for webhook in self.webhooks]
        self.published = 0
        self.arrivals: list[Arrival] = []

    def measure(self, meanwhile: Callable[[], None] = lambda: None) -> Healthy:
        """Publish the load; call `meanwhile` once, just before the first event."""
        self.receiver.clear()
        count = self.load.count
        with steady.publishers(self.rig, self.load.publishers) as processes:
            meanwhile()
            last = time.monotonic() + steady.HEAD_START_SECONDS + count / self.load.rate
            steady.start(processes, self.load, [each.company_id for each in self.webhooks])
            patience = last + PATIENCE_SECONDS - time.monotonic()
            within(patience, lambda: self.receiver.count() >= count)
            lines = [process.stdout.readline() for process in processes]
        published = [row for line in lines for row in json.loads(line)]
        arrived = steady.first_arrivals(self.receiver.arrivals())
        timed = [row for row in published if row[0] >= self.load.early]
        self.published += len(published)
        return Healthy(
            # An event can arrive before its publisher has read the clock.
            seconds=[max(0.0, arrived.get(event, math.inf) - commit) for event, _, commit in timed],
            late=max(commit - due for _, due, commit in timed),
        )

    def settle(self) -> None:
        """Wait for events in flight, and keep their arrivals for the books."""
        until(lambda: not draining.waiting(self.ids), "a healthy company's events did not come")
        self.arrivals += self.receiver.arrivals()

    def books(self) -> Books:
        """Balance all measurements since the start; call `settle` after each."""
        return books.balance(self.published, self.ids, self.arrivals)
