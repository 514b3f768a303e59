"""One thread and one clock: who goes next, and when. The seed decides where two could.

Actors are greenlets. An actor waits until a time or until it is woken, and nothing else happens
meanwhile than what the scheduler chooses: so a run is the same each time.
"""

import heapq
import math
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from greenlet import GreenletExit, getcurrent, greenlet

# A Monday, far from a change of the clocks. Monotonic time is seconds since then.
BEGINNING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
# The file of the clock counts from here: clocks may go back.
EPOCH = BEGINNING - timedelta(days=1)
# A step of a process takes this long at least, so that time goes on.
LEAST_SECONDS = 0.00002


class Scheduler:
    """The clock, and what is to happen."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.now = 0.0
        # Seconds by which the wall clock of the database was moved.
        self.wall_moved = 0.0
        self.hub = getcurrent()
        self.current: Actor | None = None
        # Called after each step.
        self.between: Callable[[], None] = lambda: None
        self.steps = 0
        self._coming: list[tuple[float, float, int, Callable[[], None]]] = []

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> datetime:
        """The database's time."""
        return BEGINNING + timedelta(seconds=self.now + self.wall_moved)

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Have `call` called at a time; of several at one time, the dice decide."""
        self.steps += 1
        place = (max(when, self.now), self.dice.random(), self.steps)
        heapq.heappush(self._coming, (*place, call))

    def run(self, until: float) -> None:
        """Let everything happen that comes by then."""
        while self._coming and self._coming[0][0] <= until:
            at, *_, call = heapq.heappop(self._coming)
            self.now = max(self.now, at)
            call()
            self.between()
        self.now = max(self.now, until)


class Actor:
    """A process: an engine loop, or somebody who publishes or operates. It has a connection."""

    def __init__(self, scheduler: Scheduler, name: str, host: str, work: Callable[[], Any]) -> None:
        self.scheduler, self.name, self.host = scheduler, name, host
        self.connection: Any = None
        self.dead = self.host_is_gone = False
        self.frozen_until = -math.inf
        # The statement that it asks the database just now, its beginning.
        self.asks = ""
        self._waits = 0
        self._greenlet = greenlet(lambda: self._work(work), parent=scheduler.hub)
        self.wake()

    @property
    def over(self) -> bool:
        return self.dead or self._greenlet.dead

    @property
    def goes(self) -> bool:
        """Return whether it is the one that runs."""
        return getcurrent() is self._greenlet

    def wait(self, until: float = math.inf) -> None:
        """Give way until then, or until it is woken."""
        self._waits += 1
        if until < math.inf:
            number, soon = self._waits, self.scheduler.now + LEAST_SECONDS
            self.scheduler.at(max(until, soon), lambda: self._resume(number))
        self.scheduler.hub.switch()
        if self.dead:
            raise GreenletExit

    def wake(self) -> None:
        """End its wait, after the moment that it takes to notice."""
        number = self._waits
        soon = self.scheduler.now + LEAST_SECONDS * (1 + self.scheduler.dice.random())
        self.scheduler.at(soon, lambda: self._resume(number))

    def end(self, within: greenlet | None) -> None:
        """Have it end now, wherever it is; `within` is what it was doing beside."""
        self.dead = True
        for each in (within, self._greenlet):
            if each and each and not each.dead:
                self._enter(lambda each=each: each.throw(GreenletExit))

    def _resume(self, number: int) -> None:
        if self.over or number != self._waits:
            return
        if self.scheduler.now < self.frozen_until:
            self.scheduler.at(self.frozen_until, lambda: self._resume(number))
            return
        self._enter(self._greenlet.switch)

    def _enter(self, switch: Callable[[], Any]) -> None:
        if self.connection is not None:
            connections[DEFAULT_DB_ALIAS] = self.connection
        self.scheduler.current = self
        try:
            switch()
        finally:
            self.scheduler.current = None

    def _work(self, work: Callable[[], Any]) -> None:
        with suppress(GreenletExit):
            work()
