"""Waiting for something in a test: with an end, which says what did not come."""

import faulthandler
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

# Only what is broken takes so long: a busy machine does not.
PATIENCE_SECONDS = 60.0


def wait_until(
    has_come: Callable[[], object], what: str, *, patience: float = PATIENCE_SECONDS
) -> None:
    """Look every few milliseconds; fail the test where it does not come."""
    deadline = time.monotonic() + patience
    while not has_come():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {patience:g} s for {what}")
        time.sleep(0.005)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Fail the test that takes longer, and again each time that what it cleans up does.

    Shows where all threads are. For the main thread, which runs the tests.
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
