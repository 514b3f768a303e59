"""Cooperative execution of database work in the loop's own thread.

The work yields to the loop wherever it would wait for the server, and resumes once the server has
answered. A second thread would cost more: libcurl releases the interpreter lock some fifteen times
per request, and two threads that compete for it wake each other each time.
Why: decision page engine-waits-for-the-database-beside-the-network.
"""

import math
import select
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TypeVar

from greenlet import getcurrent, greenlet

from core.jobs.bell import Bell

READ, WRITE = 1, 2  # psycopg's values for Wait and Ready
_EVENTS = {
    READ: select.EPOLLIN,
    WRITE: select.EPOLLOUT,
    READ | WRITE: select.EPOLLIN | select.EPOLLOUT,
}

Result = TypeVar("Result")


class Runner:
    """Runner of one piece of database work at a time; `fileno` is readable when it can continue."""

    def __init__(self) -> None:
        # Monotonic time by which the work must be resumed at the latest.
        self._until = math.inf
        self._epoll = select.epoll()
        self._loop: greenlet | None = None
        self._work: greenlet | None = None

    def fileno(self) -> int:
        return self._epoll.fileno()

    def close(self) -> None:
        self._epoll.close()

    def start(self, work: Callable[[], Result]) -> "Future[Result]":
        """Run the work until it first waits; `resume` does the rest."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        self._loop, self._work = getcurrent(), greenlet(run)
        self._work.switch()
        return future

    def resume(self, seconds: float = 0.0) -> None:
        """Resume the work if it can continue, or times out, within `seconds`."""
        if self._work and not self._work.dead:
            events = self._epoll.poll(seconds)
            if events or time.monotonic() >= self._until:
                self._work.switch(events[0][1] if events else 0)

    def seconds_left(self, now: float) -> float:
        """Return the seconds until the work times out; 0 without work."""
        return max(0.0, self._until - now) if self._work and not self._work.dead else 0.0

    def run(self, work: Callable[[], Result]) -> Result:
        """Run the work to its end, blocking, and return its result."""
        future = self.start(work)
        while not future.done():
            self.resume(min(1.0, self.seconds_left(time.monotonic())))
        return future.result()

    @property
    def working(self) -> bool:
        """True if the caller is the work itself."""
        return getcurrent() is self._work

    def pause(self, seconds: float) -> None:
        """Yield to the loop for so many seconds; for the work."""
        if not self.working:
            return time.sleep(seconds)
        self._give_way(time.monotonic() + seconds)

    def wait(self, steps: Generator[int, int, Result], descriptor: int, seconds: float) -> Result:
        """Run psycopg's wait generator, yielding to the loop between steps; for the work.

        Raises TimeoutError after `seconds`.
        """
        until = time.monotonic() + seconds
        try:
            wanted = next(steps)
            while True:
                wanted = steps.send(self._ready(descriptor, wanted, until))
        except StopIteration as end:
            result: Result = end.value
            return result

    def run_in_thread(self, make: Callable[[], Result]) -> Result:
        """Return the result of `make`, a blocking function, from a new thread; for the work."""
        if not self.working:
            return make()
        bell, future = Bell(), Future[Result]()

        def run() -> None:
            try:
                future.set_result(make())
            except BaseException as error:
                future.set_exception(error)
            bell.ring()

        threading.Thread(target=run, name="connecting", daemon=True).start()
        self._ready(bell.fileno(), READ, math.inf)
        bell.close()
        return future.result()

    def _ready(self, descriptor: int, wanted: int, until: float) -> int:
        """Wait until READ or WRITE of `wanted` is possible; returns which. Raises TimeoutError."""
        poll = select.poll()
        poll.register(descriptor, _EVENTS[wanted])
        events = poll.poll(0)
        ready = events[0][1] if events else self._watch(descriptor, _EVENTS[wanted], until)
        if not ready:
            raise TimeoutError
        writable = WRITE if ready & select.EPOLLOUT else 0
        return writable | (READ if ready & ~select.EPOLLOUT else 0)

    def _watch(self, descriptor: int, events: int, until: float) -> int:
        once = events | select.EPOLLONESHOT
        try:
            self._epoll.modify(descriptor, once)
        except FileNotFoundError:  # A new descriptor: closing an earlier one unregistered it.
            self._epoll.register(descriptor, once)
        return self._give_way(until)

    def _give_way(self, until: float) -> int:
        self._until = until
        try:
            events: int = self._loop.switch() if self._loop else 0
            return events
        finally:
            self._until = math.inf
