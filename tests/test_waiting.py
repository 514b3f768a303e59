"""Waiting in tests ends, and reports what did not come."""

import signal
from threading import Event

import pytest

from tests.waiting import time_limit, wait_until


def test_waiting_ends_and_says_for_what() -> None:
    wait_until(lambda: True, "what is there")
    with pytest.raises(pytest.fail.Exception, match=r"waited 0\.01 s for the moon"):
        wait_until(lambda: False, "the moon", patience=0.01)


def test_what_hangs_fails_and_the_limit_around_it_stays() -> None:
    around = signal.getitimer(signal.ITIMER_REAL)[1]
    assert around

    with pytest.raises(pytest.fail.Exception, match=r"still at it after 0\.05 s"):  # noqa: SIM117
        with time_limit(0.05):
            Event().wait(60)

    assert signal.getitimer(signal.ITIMER_REAL)[1] == around
