"""Plan of a publisher process. No Django."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Plan:
    """Plan of publisher number `share` of `of`: it publishes every `of`-th commit.

    Event `number` goes to the companies in turn, at `start + number / rate` of the monotonic clock.
    `batch` successive events are one commit, at the time of the last. With a `file`, published
    events are written there continuously (tools/bench/stopwatch.py).
    """

    rate: float
    count: int
    start: float
    company_ids: list[int]
    share: int = 0
    of: int = 1
    batch: int = 1
    file: str = ""

    def text(self) -> str:
        return json.dumps(asdict(self))

    def due(self, number: int) -> float:
        return self.start + number / self.rate

    def company_id(self, number: int) -> int:
        return self.company_ids[number % len(self.company_ids)]

    def commits(self) -> Iterator[range]:
        """Yield the numbers of each commit."""
        for first in range(self.share * self.batch, self.count, self.of * self.batch):
            yield range(first, min(first + self.batch, self.count))
