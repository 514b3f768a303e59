"""Processes of the machine, read from /proc."""

import os
import time
from collections.abc import Sequence
from pathlib import Path


def children_of(pid: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]


def group_of(pid: int) -> int:
    """Return the process group, or 0 if the process has ended."""
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0


def group_members(group: int) -> list[int]:
    return [
        int(path.name) for path in Path("/proc").glob("[0-9]*") if group_of(int(path.name)) == group
    ]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def wait_until_gone(pids: Sequence[int], seconds: float = 15) -> int:
    """Wait until processes have ended; return the number of those left at the timeout."""
    deadline = time.monotonic() + seconds

    def alive() -> list[int]:
        return [pid for pid in pids if is_running(pid)]

    while alive() and time.monotonic() < deadline:
        time.sleep(0.1)
    return len(alive())
