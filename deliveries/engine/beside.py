"""Work at the database beside the loop, in the loop's own thread.

The work gives way wherever it would wait for the server, and goes on once the server has answered.
A second thread does the same and costs more: libcurl gives the interpreter up some fifteen times
for each request, and two threads that want it wake each other each time.
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

READ, WRITE = 1, 2  # As psycopg says what it waits for, and what is ready.
_EVENTS = {
    READ: select.EPOLLIN,
    WRITE: select.EPOLLOUT,
    READ | WRITE: select.EPOLLIN | select.EPOLLOUT,
}

Made = TypeVar("Made")


class Beside:
    """One piece of work at a time. `fileno` is readable when it can go on."""

    def __init__(self) -> None:
        # When the work goes on at the latest, by the monotonic clock.
        self._until = math.inf
        self._epoll = select.epoll()
        self._loop: greenlet | None = None
        self._work: greenlet | None = None

    def fileno(self) -> int:
        return self._epoll.fileno()

    def close(self) -> None:
        self._epoll.close()

    def begin(self, work: Callable[[], Made]) -> "Future[Made]":
        """Do as much of it as goes without waiting; the rest is for `go_on`."""
        future: Future[Made] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        self._loop, self._work = getcurrent(), greenlet(run)
        self._work.switch()
        return future

    def go_on(self, seconds: float = 0.0) -> None:
        """Go on with the work if, within `seconds`, what it waits for is there or its time over."""
        if self._work and not self._work.dead:
            events = self._epoll.poll(seconds)
            if events or time.monotonic() >= self._until:
                self._work.switch(events[0][1] if events else 0)

    def patience(self, now: float) -> float:
        """For how long it may be waited for the work, in seconds."""
        return max(0.0, self._until - now) if self._work and not self._work.dead else 0.0

    def finish(self, work: Callable[[], Made]) -> Made:
        """What the work returns, doing nothing else meanwhile."""
        future = self.begin(work)
        while not future.done():
            self.go_on(min(1.0, self.patience(time.monotonic())))
        return future.result()

    @property
    def working(self) -> bool:
        """Whether whoever asks is the work itself."""
        return getcurrent() is self._work

    def pause(self, seconds: float) -> None:
        """For the work: give way for so long."""
        if not self.working:
            return time.sleep(seconds)
        self._give_way(time.monotonic() + seconds)

    def wait(self, steps: Generator[int, int, Made], descriptor: int, seconds: float) -> Made:
        """For the work: take psycopg's steps, giving way between them.

        Raises TimeoutError after so many seconds.
        """
        until = time.monotonic() + seconds
        try:
            wanted = next(steps)
            while True:
                wanted = steps.send(self._ready(descriptor, wanted, until))
        except StopIteration as end:
            made: Made = end.value
            return made

    def elsewhere(self, make: Callable[[], Made]) -> Made:
        """For the work: what `make` returns, which may block, from a thread of its own."""
        if not self.working:
            return make()
        bell, future = Bell(), Future[Made]()

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
        """Which of `wanted` is possible, as soon as one is. Raises TimeoutError."""
        poll = select.poll()
        poll.register(descriptor, _EVENTS[wanted])
        events = poll.poll(0)
        found = events[0][1] if events else self._watch(descriptor, _EVENTS[wanted], until)
        if not found:
            raise TimeoutError
        writable = WRITE if found & select.EPOLLOUT else 0
        return writable | (READ if found & ~select.EPOLLOUT else 0)

    def _watch(self, descriptor: int, events: int, until: float) -> int:
        once = events | select.EPOLLONESHOT
        try:
            self._epoll.modify(descriptor, once)
        except FileNotFoundError:  # It is new; a former one of this number left when it was closed.
            self._epoll.register(descriptor, once)
        return self._give_way(until)

    def _give_way(self, until: float) -> int:
        self._until = until
        try:
            found: int = self._loop.switch() if self._loop else 0
            return found
        finally:
            self._until = math.inf
