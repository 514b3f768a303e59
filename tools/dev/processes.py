"""Starting programs so that none outlives the launcher, whatever becomes of it."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable

# From linux/prctl.h
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# Loaded here and not in the child: between fork and exec nothing may wait for a lock.
LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def tether(on_parent_death: int) -> Callable[[], None] | None:
    """What a child does before it becomes its program: ask for a signal when its parent dies.

    Only Linux has this; elsewhere a launcher killed with -9 leaves its children behind.
    """
    if LIBC is None:
        return None
    parent = os.getpid()

    def ask() -> None:
        LIBC.prctl(PR_SET_PDEATHSIG, on_parent_death)
        if os.getppid() != parent:
            os._exit(1)

    return ask


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own, so that it can be found."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)


def signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal the process and what it started: each has a session, hence a group, of its own."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        # PermissionError is what macOS says of a group in which only zombies are left.
        return


def stop(process: subprocess.Popen[bytes], steps: list[tuple[int, float]]) -> None:
    """Send each signal and give it its seconds; at the end nothing of the group is left."""
    for number, seconds in steps:
        if process.poll() is not None:
            break
        process.send_signal(number)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
    signal_group(process, signal.SIGKILL)
    process.wait()
