"""The moment at which a web process that has grown too large makes room for another.

Python gives little memory back: after one large answer a process keeps its size. Why a moment:
decision page web-a-process-that-has-grown-is-replaced.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MIB = 1024 * 1024
# Whatever the setting is, a new process has so much to grow by: it must not go at once.
LEAST_GROWTH = 128 * MIB
LOOK_EVERY_SECONDS = 1.0
# For so long it looks for a moment in which nobody waits for it.
FOR_A_QUIET_MOMENT_SECONDS = 30.0
STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Return how much memory this process takes; 0 where the system does not say."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class OneAtATime:
    """A lock that only one of the processes that share it has; it goes with the process."""

    def __init__(self) -> None:
        self.descriptor, path = tempfile.mkstemp()
        os.unlink(path)

    def take(self) -> bool:
        try:
            fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


class Outgrown:
    """Compares a process's size with `mib`; 0 is no limit."""

    def __init__(
        self,
        mib: int,
        turn: OneAtATime,
        size: Callable[[], int] = resident_bytes,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.size = size
        self.clock = clock
        self.turn = turn
        self.limit = max(mib * MIB, size() + LEAST_GROWTH) if mib else 0
        self.next_look = 0.0
        self.since: float | None = None

    def should_go(self, is_quiet: Callable[[], bool]) -> bool:
        """Return whether to stop now: too large, nobody waits, and no other process is going."""
        now = self.clock()
        if not self.limit or now < self.next_look:
            return False
        self.next_look = now + LOOK_EVERY_SECONDS
        if self.size() <= self.limit:
            self.since = None
            return False
        self.since = now if self.since is None else self.since
        waited = now - self.since >= FOR_A_QUIET_MOMENT_SECONDS
        return (waited or is_quiet()) and self.turn.take()
