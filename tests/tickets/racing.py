"""Many threads at one thing, released together, each with its own database connection."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event
from typing import TypeVar

import pytest
from django.db import connection, connections, transaction

Result = TypeVar("Result")

# Only what is broken takes so long: a busy machine does not.
PATIENCE_SECONDS = 60


class Racers:
    """Threads that stay for all rounds, as a new connection for each would blur the start."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pool = ThreadPoolExecutor(number)

    def run(self, calls: Sequence[Callable[[], Result]]) -> list[Result]:
        """What each call returned, in order; raises what the first of them raised."""
        assert len(calls) <= self.number
        barrier = Barrier(len(calls))

        def start(call: Callable[[], Result]) -> Result:
            barrier.wait(timeout=PATIENCE_SECONDS)
            return call()

        futures = [self.pool.submit(start, call) for call in calls]
        return [future.result(timeout=2 * PATIENCE_SECONDS) for future in futures]

    def close(self) -> None:
        # As many at once as there are threads, so that each closes its own.
        self.run([connections.close_all] * self.number)
        self.pool.shutdown()


@contextmanager
def racers(number: int) -> Iterator[Racers]:
    made = Racers(number)
    try:
        yield made
    finally:
        made.close()


def in_order(first: Callable[[], object], second: Callable[[], object]) -> list[object]:
    """What both give when the second begins before the first has committed, and has to wait.

    Where the second raises, that is what it gives.
    """
    done = Event()

    def go_first() -> object:
        with transaction.atomic():
            result = first()
            done.set()
            wait_until_waited_for()
        return result

    def go_second() -> object:
        done.wait(PATIENCE_SECONDS)
        try:
            return second()
        except Exception as error:
            return error

    with racers(2) as together:
        return together.run([go_first, go_second])


def wait_until_waited_for() -> None:
    with connection.cursor() as cursor:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            cursor.execute(
                "SELECT FROM pg_locks "
                "WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            )
            if cursor.fetchone() is not None:
                return
            time.sleep(0.005)
    pytest.fail("nobody waited")


def meanwhile(first: Callable[[], object], second: Callable[[], object]) -> list[object]:
    """Return what both return when the second runs while the first has not committed.

    A second act that waits for the first ends with the lock timeout, whose error is raised here.
    """
    with racers(1) as beside, transaction.atomic():
        return [first(), *beside.run([second])]
