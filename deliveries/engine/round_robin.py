"""Round-robin over companies, and over the webhooks of each. Pure."""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Generic, Protocol, TypeVar

from deliveries.engine.pace import Pace


class InTurn(Protocol):
    company_id: int
    pace: Pace


Each = TypeVar("Each", bound=InTurn)


class Turns(Generic[Each]):
    """Queue of lanes that alternates between companies, and between the lanes of each."""

    def __init__(self) -> None:
        self._companies: dict[int, deque[Each]] = {}
        self._lanes: set[Each] = set()

    def __len__(self) -> int:
        return len(self._lanes)

    def __iter__(self) -> Iterator[Each]:
        """Iterate over the lanes in no particular order."""
        return iter(self._lanes)

    def add(self, lane: Each) -> None:
        """Append a lane to its company's queue, unless it is already there."""
        if lane not in self._lanes:
            self._lanes.add(lane)
            self._companies.setdefault(lane.company_id, deque()).append(lane)

    def next(self) -> Each:
        """Remove and return the next lane; its company goes to the end."""
        return self._take(next(iter(self._companies)))

    def firsts(self, of: Callable[[int], bool], most: int) -> list[Each]:
        """Remove and return the first lane of up to `most` companies for which `of` is true."""
        chosen = islice((each for each in self._companies if of(each)), max(0, most))
        return [self._take(company_id) for company_id in list(chosen)]

    def has(self, company_id: int) -> bool:
        return company_id in self._companies

    def _take(self, company_id: int) -> Each:
        lanes = self._companies.pop(company_id)
        lane = lanes.popleft()
        if lanes:
            self._companies[company_id] = lanes
        self._lanes.discard(lane)
        return lane

    def discard(self, lane: Each) -> None:
        if lane in self._lanes:
            self._lanes.discard(lane)
            lanes = self._companies[lane.company_id]
            lanes.remove(lane)
            if not lanes:
                del self._companies[lane.company_id]


class TurnsByKind(Generic[Each]):
    """Separate queues of quick and slow lanes, so that neither waits for the other.

    A lane of unknown speed counts as slow.
    """

    def __init__(self) -> None:
        self.quick: Turns[Each] = Turns()
        self.slow: Turns[Each] = Turns()

    def __len__(self) -> int:
        return len(self.quick) + len(self.slow)

    def add(self, lane: Each) -> None:
        """Append a lane to its company's queue, unless it is already there."""
        right, wrong = (self.slow, self.quick) if lane.pace.slow else (self.quick, self.slow)
        wrong.discard(lane)
        right.add(lane)

    def discard(self, lane: Each) -> None:
        self.quick.discard(lane)
        self.slow.discard(lane)
