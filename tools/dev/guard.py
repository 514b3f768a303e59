"""A parent that does nothing but watch, so that kill -9 is as good an end as any other.

`./dev run` is two processes. The one the person sees waits; the one behind it works. When the
first is killed the second is told and stops everything in order; when the second is killed its
programs are told, and the first, which inherits whatever they leave behind, removes it.
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
    # The terminal was closed; unless nohup has said that this is nothing to us.
    ENDINGS.add(signal.SIGHUP)
# PostgreSQL told by the system that its parent is gone writes its checkpoint in this time.
FAREWELL_SECONDS = 3
AGAIN_SECONDS = 0.05


class Stop(BaseException):
    """We have been told to stop, wherever we are."""


def guarded(work: Callable[[], int]) -> int:
    """Run `work` in a child; its exit code, once neither it nor any descendant is left.

    Stop is raised in `work` when the person, or the end of the parent, says so.
    """
    adopt_orphans()
    # Until both halves listen: a signal in between would find one that does not yet.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    ask = tether(signal.SIGTERM)
    worker = os.fork()
    if worker == 0:
        if ask:
            ask()
        os._exit(behind_the_guard(work))
    for number in ENDINGS:
        signal.signal(number, lambda *_: tell(worker))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    status = wait_for(worker)
    turn_deaf()
    remove_orphans()
    if os.WIFSIGNALED(status):
        say(f"the launcher was killed by signal {os.WTERMSIG(status)}; everything is stopped")
        return 1
    return os.waitstatus_to_exitcode(status)


def tell(worker: int) -> None:
    """Tell the worker to stop. Ctrl-C reaches it as well, so it may be gone already."""
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGTERM)


def behind_the_guard(work: Callable[[], int]) -> int:
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
    turn_deaf()
    raise Stop


def stop_again(lost: "sys.UnraisableHookArgs") -> None:
    """Where an object is being finalized, Python lets no exception through: raise it again soon."""
    if not isinstance(lost.exc_value, Stop):
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)


def turn_deaf() -> None:
    """Told once is enough: a second Ctrl-C must not interrupt the stopping.

    Python complains of signals that arrive while they are set to be ignored; hence a function.
    """
    for number in ENDINGS:
        signal.signal(number, lambda *_: None)


def wait_for(worker: int) -> int:
    """The worker's status; orphans that end meanwhile are taken note of and forgotten."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == worker:
            return status


def remove_orphans() -> None:
    """Wait for what is left below us, and kill what does not go by itself."""
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
    """Process ids of our children, adopted ones among them. Only Linux gives us any to adopt."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The second field is the program's name in brackets and may hold anything.
            parent = entry.read_text(errors="replace").rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == os.getpid():
            found.append(int(entry.parent.name))
    return found
