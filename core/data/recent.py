"""In-process memory whose entries expire."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by key, each for some seconds; beyond `most` entries the oldest is dropped first.

    Threads may write and read at the same time.
    """

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self.most, self.clock = most, clock
        self.lock = Lock()
        self.entries: OrderedDict[str, tuple[V, float]] = OrderedDict()

    def keep(self, key: str, value: V, seconds: float) -> None:
        with self.lock:
            self.entries[key] = (value, self.clock() + seconds)
            self.entries.move_to_end(key)
            while len(self.entries) > self.most:
                self.entries.popitem(last=False)

    def find(self, key: str) -> V | None:
        entry = self.entries.get(key)
        return entry[0] if entry and entry[1] > self.clock() else None

    def forget(self, key: str) -> None:
        with self.lock:
            self.entries.pop(key, None)

    def current_entries(self) -> dict[str, V]:
        """Return all entries that have not expired."""
        return {
            key: one for key, (one, until) in list(self.entries.items()) if until > self.clock()
        }
