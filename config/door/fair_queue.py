"""Order in which threads take callers' requests (decision page web-companies-take-turns)."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

# A turn that lasts longer mostly waits for something else, such as a receiver that is tried out,
# and not for a processor.
LONG_SECONDS = 0.25
# A client that retries right after a STOP_ASKING answer costs others no more than ten answers a
# second. Others at the same address wait as long for their turn.
REST_SECONDS = 0.1
STOP_ASKING = frozenset({401, 429, 503})
# Prefix of strangers' rows whose requests hash a password. They take turns among themselves too.
HASHING = "hashes for "


class ThreadTurn(NamedTuple):
    """Use of a thread by a row, and its start on the queue's clock."""

    row: str
    started: float


Work = Callable[[ThreadTurn], None]


class FairQueue:
    """Requests in one row per caller; the rows take turns.

    `start` gives work to a thread, with the turn to pass to `finish`; at most `threads` run at
    once. A row has one of them even while no other row waits, so that the next caller finds a free
    thread and a processor. It gets another, up to `share`, while its running work takes long. A
    row rests after a STOP_ASKING answer. Rows that begin with HASHING have `hashing` threads in
    all.

    Everything runs in the event loop, which calls `start_ready` regularly while some wait.
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
        # Rows in the order of their turns.
        self.waiting: dict[str, deque[Work]] = {}
        # End of each row's rest, in the order of these times.
        self.resting: dict[str, float] = {}

    def is_empty(self) -> bool:
        return not self.waiting and not self.at_work

    def add(self, row: str, work: Work) -> None:
        self.waiting.setdefault(row, deque()).append(work)
        self.start_ready()

    def finish(self, turn: ThreadTurn, status: int = 0) -> None:
        """End a turn whose work is over; `status` is that of its answer."""
        self.free += 1
        self.at_work[turn.row].remove(turn)
        if status in STOP_ASKING:
            self.resting.pop(turn.row, None)
            self.resting[turn.row] = self.clock() + REST_SECONDS
        if not self.at_work[turn.row]:
            del self.at_work[turn.row]
        self.start_ready()

    def start_ready(self) -> None:
        """Start work while a thread is free and a row may have it."""
        while self.free and (turn := self.next_turn()) is not None:
            works = self.waiting.pop(turn.row)
            work = works.popleft()
            if works:
                self.waiting[turn.row] = works
            self.free -= 1
            self.at_work.setdefault(turn.row, []).append(turn)
            self.start(work, turn)

    def longest_wait(self) -> float:
        """Return the seconds until a row may get a thread without any new event."""
        if not self.free:
            return LONG_SECONDS
        ends = next(iter(self.resting.values()), math.inf)
        return max(0.0, min(LONG_SECONDS, ends - self.clock()))

    def next_turn(self) -> ThreadTurn | None:
        now = self.clock()
        while self.resting and (first := next(iter(self.resting.items())))[1] <= now:
            del self.resting[first[0]]
        hashing = [len(turns) for row, turns in self.at_work.items() if row.startswith(HASHING)]
        may_hash = sum(hashing) < self.hashing
        for row in self.waiting:
            if row in self.resting or (row.startswith(HASHING) and not may_hash):
                continue
            turns = self.at_work.get(row, ())
            if len(turns) < self.share and all(now - turn.started > LONG_SECONDS for turn in turns):
                return ThreadTurn(row, now)
        return None
