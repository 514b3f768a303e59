"""Children that end with their parent."""

import logging
import os
import signal
from collections.abc import Callable
from ctypes import CDLL

from core.watch.process_kinds import end_process

logger = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
# Signals that ask a process to end.
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)


def end_with_parent(number: int) -> None:
    """Have this process get a signal when its parent ends."""
    CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def fork_into(work: Callable[[], None]) -> int:
    """Run `work` in a child that is told to stop when this process ends; return its id."""
    parent = os.getpid()
    # Signals wait until both processes can handle them: an early one must not get lost.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {*ENDS, signal.SIGCHLD})
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return child
    status = 1
    try:
        for each in ENDS:
            signal.signal(each, signal.SIG_DFL if each == signal.SIGTERM else signal.SIG_IGN)
        end_with_parent(signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if os.getppid() == parent:
            work()
        status = 0
    except BaseException:
        logger.exception("a child ended with an error")
    finally:
        end_process()
        logging.shutdown()
        os._exit(status)
