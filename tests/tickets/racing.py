"""Threads that run calls at the same moment, each with its own database connection."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event
from typing import TypeVar

from django.db import connection, connections, transaction

from tests.waiting import PATIENCE_SECONDS, wait_until

Result = TypeVar("Result")


class Racers:
    """Threads that stay for all rounds, as opening connections would blur the start."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.pool = ThreadPoolExecutor(number)

    def run(self, calls: Sequence[Callable[[], Result]]) -> list[Result]:
        """Start all calls together; return their results in order, or raise the first error."""
        assert len(calls) <= self.number
        barrier = Barrier(len(calls))

        def start(call: Callable[[], Result]) -> Result:
            barrier.wait(timeout=PATIENCE_SECONDS)
            return call()

        futures = [self.pool.submit(start, call) for call in calls]
        return [future.result(timeout=2 * PATIENCE_SECONDS) for future in futures]

    def close(self) -> None:
        # One call per thread at the same time, so that each thread closes its own connection.
        self.run([connections.close_all] * self.number)
        self.pool.shutdown()


@contextmanager
def racers(number: int) -> Iterator[Racers]:
    threads = Racers(number)
    try:
        yield threads
    finally:
        threads.close()


def in_order(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    at: re.Pattern[str] | None = None,
) -> list[object]:
    """Return both results when `second` starts before `first` commits, and has to wait.

    An exception of `second` is its result. `at` matches the statement in which it has to wait.
    """
    first_started = Event()

    def go_first() -> object:
        with transaction.atomic():
            result = first()
            first_started.set()
            statement = wait_until_waited_for()
            assert at is None or at.search(statement), f"waited, but in {statement}"
        return result

    def go_second() -> object:
        first_started.wait(PATIENCE_SECONDS)
        try:
            return second()
        except Exception as error:
            return error

    with racers(2) as together:
        return together.run([go_first, go_second])


def wait_until_waited_for() -> str:
    """Wait until another connection waits for this transaction; return its statement."""
    waiting_pids: list[int] = []

    def is_waited_for() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid FROM pg_locks "
                "WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            )
            waiting_pids.extend(pid for (pid,) in cursor.fetchall())
        return bool(waiting_pids)

    wait_until(is_waited_for, "somebody who waits for this transaction")
    # Read the view last: within a transaction it keeps showing its first contents.
    with connection.cursor() as cursor:
        cursor.execute("SELECT query FROM pg_stat_activity WHERE pid = %s", [waiting_pids[0]])
        return str(cursor.fetchone()[0])


def meanwhile(first: Callable[[], object], second: Callable[[], object]) -> list[object]:
    """Return both results when `second` runs while `first` has not committed.

    If `second` waits for `first`, it ends with the lock timeout, whose error is raised here.
    """
    with racers(1) as beside, transaction.atomic():
        return [first(), *beside.run([second])]


@contextmanager
def unfinished(*acts: Callable[[], object]) -> Iterator[None]:
    """Run the acts in another transaction, which commits when the block ends."""
    ready, end = Event(), Event()

    def run() -> None:
        try:
            with transaction.atomic():
                for act in acts:
                    act()
                ready.set()
                end.wait(PATIENCE_SECONDS)
        finally:
            ready.set()
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        assert ready.wait(PATIENCE_SECONDS)
        try:
            yield
        finally:
            end.set()
            running.result()
