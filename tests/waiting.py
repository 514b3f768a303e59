"""Waiting for something in a test, with a limit, after which the failure says what did not come."""

import faulthandler
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

# A busy machine does not take this long, a failure does.
PATIENCE_SECONDS = 60.0


def wait_until(
    has_come: Callable[[], object], what: str, *, patience: float = PATIENCE_SECONDS
) -> None:
    """Check every few milliseconds; fail the test if it does not come."""
    deadline = time.monotonic() + patience
    while not has_come():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {patience:g} s for {what}")
        time.sleep(0.005)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Fail the test that takes longer, and again each time that its cleanup does.

    Shows the stacks of all threads. For the main thread, which runs the tests.
    """

    def fail(*_: object) -> None:
        faulthandler.dump_traceback(file=sys.__stderr__)
        pytest.fail(f"still at it after {seconds:g} s")

    handler = signal.signal(signal.SIGALRM, fail)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)
