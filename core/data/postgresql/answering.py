"""Time that a request has left to wait for a database that has stopped answering.

Each statement has a timeout of its own. A request that has waited in its queue, or whose connection
was dead, would add up several, so while the database is silent the request's own deadline counts.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import psycopg

# Minimum connect timeout of libpq.
LEAST_CONNECT_SECONDS = 2


class AnswerTime(NamedTuple):
    """Time when a request needs its answer; a `strict` one counts whatever the database does."""

    at: float
    strict: bool


due: ContextVar[AnswerTime | None] = ContextVar("due", default=None)


@contextmanager
def answer_until(at: float, *, strict: bool = False) -> Iterator[None]:
    """Have the statements within end by `at`, a time of `time.monotonic`."""
    before = due.set(AnswerTime(at, strict))
    try:
        yield
    finally:
        due.reset(before)


class Silence:
    """Record of whether the database has answered this process lately."""

    def __init__(self) -> None:
        self.began = False

    def seconds_left(self, patience: float | None) -> float | None:
        """Shorten the patience for a statement. Raises OperationalError if no time is left."""
        until = due.get()
        if until is None or patience is None or not (self.began or until.strict):
            return patience
        remaining = until.at - time.monotonic()
        if remaining <= 0:
            raise psycopg.OperationalError("the database does not answer")
        return min(patience, remaining)

    def connect_seconds(self, most: int) -> int:
        """Shorten the connect timeout likewise, in whole seconds; 0 is libpq's own limit."""
        seconds = int(self.seconds_left(float(most) or None) or 0)
        if seconds < min(most, LEAST_CONNECT_SECONDS):
            raise psycopg.OperationalError("the database does not answer")
        return seconds


SILENCE = Silence()
