"""Guard process that only watches, so that even kill -9 leaves nothing behind.

`./dev run` and `./dev test` are two processes each: the guard, which the user sees, waits; its
child works. If the guard is killed, the child gets a signal and shuts down in order; if the child
is killed, its programs get a signal, and the guard, which inherits their orphans, removes them.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tools.dev.processes import adopt_orphans, tether
from tools.dev.trouble import say

ENDINGS = {signal.SIGTERM, signal.SIGINT}
if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
    # The terminal was closed, unless nohup ignores that.
    ENDINGS.add(signal.SIGHUP)
# Time for PostgreSQL to write its checkpoint after it was signalled the death of its parent.
FAREWELL_SECONDS = 3
AGAIN_SECONDS = 0.05


class Stop(BaseException):
    """Request to stop, raised at any point of the code."""


def guarded(work: Callable[[], int], *, leave_ctrl_c: bool = False) -> int:
    """Run `work` in a child; return its exit code once the child and its descendants are gone.

    Stop is raised in `work` on a signal, or when the guard dies. `leave_ctrl_c` is for a program
    that ends in order on Ctrl-C, which reaches it without the guard.
    """
    adopt_orphans()
    # Block signals until both processes have installed their handlers.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    ask = tether(signal.SIGTERM)
    worker = os.fork()
    if worker == 0:
        if ask:
            ask()
        os._exit(run_worker(work))
    for number in ENDINGS:
        signal.signal(number, lambda *_: tell(worker))
    if leave_ctrl_c:
        signal.signal(signal.SIGINT, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    status = wait_for(worker)
    ignore_signals()
    remove_orphans()
    if os.WIFSIGNALED(status):
        say(f"the launcher was killed by signal {os.WTERMSIG(status)}; everything is stopped")
        return 1
    return os.waitstatus_to_exitcode(status)


def tell(worker: int) -> None:
    """Ask the worker to stop. Ctrl-C reaches it as well, so it may be gone already."""
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGTERM)


def run_worker(work: Callable[[], int]) -> int:
    for number in ENDINGS:
        signal.signal(number, stop)
    sys.unraisablehook = stop_again
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
        return work()
    except Stop:
        return 0
    except BaseException:  # nothing above this will print it
        traceback.print_exc()
        return 1


def stop(*_: object) -> None:
    ignore_signals()
    raise Stop


def stop_again(lost: "sys.UnraisableHookArgs") -> None:
    """Raise Stop again soon if it hit a finalizer, in which Python swallows exceptions."""
    if not isinstance(lost.exc_value, Stop):
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)


def ignore_signals() -> None:
    """Ignore further signals: a second Ctrl-C must not interrupt the shutdown.

    The handler is a function because Python complains about signals that arrive under SIG_IGN.
    """
    for number in ENDINGS:
        signal.signal(number, lambda *_: None)


def wait_for(worker: int) -> int:
    """Wait for the worker and return its status; reap orphans meanwhile."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == worker:
            return status


def remove_orphans() -> None:
    """Wait for remaining descendants, and kill those that do not end by themselves."""
    deadline = time.monotonic() + FAREWELL_SECONDS
    while True:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == 0:
            if time.monotonic() > deadline:
                for pid in children():
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)


def children() -> list[int]:
    """Return process ids of our children, with adopted ones, which only Linux has."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The second field is the program's name in brackets and may hold anything.
            parent = entry.read_text(errors="replace").rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == os.getpid():
            pids.append(int(entry.parent.name))
    return pids
