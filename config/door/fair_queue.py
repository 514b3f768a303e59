"""Whose request a thread takes next (decision page web-companies-take-turns)."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

# Who has been at work for longer waits more than it works, as for a receiver that is tried out.
LONG_SECONDS = 0.25
# Who was told to stop asking for now, and asks again at once, costs others no more than ten answers
# a second. Others at the same address wait as long for their turn.
REST_SECONDS = 0.1
STOP_ASKING = frozenset({401, 429, 503})
# Rows of strangers whose request costs a hash begin so. They take turns among themselves too.
HASHING = "hashes for "


class ThreadTurn(NamedTuple):
    """A thread that somebody has, and since when."""

    who: str
    began: float


Work = Callable[[ThreadTurn], None]


class FairQueue:
    """Requests wait in a row for each who asks, and the rows take turns.

    `start` gives work to a thread, with the turn to hand to `done`. At most `threads` have some at
    once. A row has one of them, also while nobody else asks: who comes next finds a thread that is
    free, and a processor. It gets another, up to `share`, beside work that takes long. A row that
    was told to stop asking rests. Rows that begin with HASHING have `hashing` in all.
    All of it happens in the event loop, which calls `go_on` from time to time while some wait.
    """

    def __init__(
        self,
        threads: int,
        share: int,
        start: Callable[[Work, ThreadTurn], object],
        clock: Callable[[], float] = time.monotonic,
        hashing: int = 1,
    ) -> None:
        self.free = threads
        self.hashing = hashing
        self.share = share
        self.start = start
        self.clock = clock
        self.at_work: dict[str, list[ThreadTurn]] = {}
        # In the order of their turns. No more of them than there are threads may have none.
        self.waiting: dict[str, deque[Work]] = {}
        # Until when a row rests, in the order of these times.
        self.resting: dict[str, float] = {}

    def is_empty(self) -> bool:
        return not self.waiting and not self.at_work

    def come(self, who: str, work: Work) -> None:
        self.waiting.setdefault(who, deque()).append(work)
        self.go_on()

    def done(self, turn: ThreadTurn, status: int = 0) -> None:
        """The work that was started with this turn is over, with this status as its answer."""
        self.free += 1
        self.at_work[turn.who].remove(turn)
        if status in STOP_ASKING:
            self.resting.pop(turn.who, None)
            self.resting[turn.who] = self.clock() + REST_SECONDS
        if not self.at_work[turn.who]:
            del self.at_work[turn.who]
        self.go_on()

    def go_on(self) -> None:
        while self.free and (turn := self.next_turn()) is not None:
            row = self.waiting.pop(turn.who)
            work = row.popleft()
            if row:
                self.waiting[turn.who] = row
            self.free -= 1
            self.at_work.setdefault(turn.who, []).append(turn)
            self.start(work, turn)

    def longest_wait(self) -> float:
        """For how long nothing changes by itself, in seconds."""
        if not self.free:
            return LONG_SECONDS
        ends = next(iter(self.resting.values()), math.inf)
        return max(0.0, min(LONG_SECONDS, ends - self.clock()))

    def next_turn(self) -> ThreadTurn | None:
        now = self.clock()
        while self.resting and (first := next(iter(self.resting.items())))[1] <= now:
            del self.resting[first[0]]
        hashing = [len(begun) for who, begun in self.at_work.items() if who.startswith(HASHING)]
        may_hash = sum(hashing) < self.hashing
        for who in self.waiting:
            if who in self.resting or (who.startswith(HASHING) and not may_hash):
                continue
            begun = self.at_work.get(who, ())
            if len(begun) < self.share and all(now - turn.began > LONG_SECONDS for turn in begun):
                return ThreadTurn(who, now)
        return None
