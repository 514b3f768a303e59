"""What a publisher has to do, as it is told. No Django."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Plan:
    """`share` of `of` processes publishes the numbers that leave this remainder.

    Event `number` goes to the companies in turn, at `start + number / rate` of the monotonic clock.
    """

    rate: float
    count: int
    start: float
    company_ids: list[int]
    share: int = 0
    of: int = 1

    def text(self) -> str:
        return json.dumps(asdict(self))

    def due(self, number: int) -> float:
        return self.start + number / self.rate

    def company_id(self, number: int) -> int:
        return self.company_ids[number % len(self.company_ids)]

    def numbers(self) -> range:
        return range(self.share, self.count, self.of)
