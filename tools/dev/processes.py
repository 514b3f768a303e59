"""Processes that never outlive the launcher, however it ends."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable

# Constant of linux/prctl.h.
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

# Load libc here: between fork and exec, dlopen could deadlock on a lock.
LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def tether(on_parent_death: int) -> Callable[[], None] | None:
    """Return a preexec_fn that requests a signal for the child when its parent dies.

    Only Linux has this; elsewhere a launcher killed by kill -9 leaves its children running.
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
    """Become the parent of orphaned descendants, so that they can be found."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)


def signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal a process and its children: each process has a session, hence a group, of its own."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        # macOS raises PermissionError for a group of zombies.
        return


def stop(process: subprocess.Popen[bytes], steps: list[tuple[int, float]]) -> None:
    """Send each signal and wait its seconds, then kill the rest of the group."""
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
