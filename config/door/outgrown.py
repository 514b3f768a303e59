"""Replacement of a web process that has grown too large.

Python gives little memory back: after one large answer a process keeps its size. Why it waits:
decision page web-a-process-that-has-grown-is-replaced.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MIB = 1024 * 1024
# A new process may always grow by this much: whatever the setting, it must not be replaced at once.
LEAST_GROWTH = 128 * MIB
LOOK_EVERY_SECONDS = 1.0
# The process waits this long for a moment without requests, and is then replaced anyway.
FOR_A_QUIET_MOMENT_SECONDS = 30.0
STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """Return the resident memory of this process; 0 where the system does not report it."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class OneAtATime:
    """A lock between forked processes; the system releases it when its holder ends."""

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
    """Check of a process's size against `mib`; 0 means no limit."""

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
        """Tell if the process must stop now: too large, quiet or overdue, and no other is going."""
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
