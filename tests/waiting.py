"""Waiting for something in a test: with an end, which says what did not come."""

import time
from collections.abc import Callable

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
