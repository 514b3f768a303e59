"""Scheduler with one thread and one clock; the seed decides between simultaneous steps.

Actors are greenlets. An actor waits until a time or until it is woken, and the scheduler alone
chooses the next step: so a run is the same each time.
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

# A Monday, far from a change of daylight saving time. Monotonic time is seconds since then.
BEGINNING = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
# Origin of the clock's file, earlier because clocks may go back.
EPOCH = BEGINNING - timedelta(days=1)
# Shortest duration of a step, so that time advances.
LEAST_SECONDS = 0.00002


class Scheduler:
    """Clock, and queue of coming steps."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.now = 0.0
        # Offset of the database's wall clock in seconds.
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
        """Return the database's time."""
        return BEGINNING + timedelta(seconds=self.now + self.wall_moved)

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Schedule a call; the dice decide the order of simultaneous calls."""
        self.steps += 1
        place = (max(when, self.now), self.dice.random(), self.steps)
        heapq.heappush(self._coming, (*place, call))

    def run(self, until: float) -> None:
        """Run all steps until a time."""
        while self._coming and self._coming[0][0] <= until:
            at, *_, call = heapq.heappop(self._coming)
            self.now = max(self.now, at)
            call()
            self.between()
        self.now = max(self.now, until)


class Actor:
    """Process with a connection: an engine loop, or a person who publishes or operates."""

    def __init__(self, scheduler: Scheduler, name: str, host: str, work: Callable[[], Any]) -> None:
        self.scheduler, self.name, self.host = scheduler, name, host
        self.connection: Any = None
        self.idle_seconds = math.inf
        self.dead = self.host_is_gone = False
        self.frozen_until = -math.inf
        # Beginning of its current statement.
        self.asks = ""
        self._waits = 0
        self._greenlet = greenlet(lambda: self._work(work), parent=scheduler.hub)
        self.wake()

    @property
    def over(self) -> bool:
        return self.dead or self._greenlet.dead

    @property
    def goes(self) -> bool:
        """Return True if this actor is running."""
        return getcurrent() is self._greenlet

    def wait(self, until: float = math.inf) -> None:
        """Yield to other actors until a time, or until it is woken."""
        self._waits += 1
        if until < math.inf:
            number, soon = self._waits, self.scheduler.now + LEAST_SECONDS
            self.scheduler.at(max(until, soon), lambda: self._resume(number))
        self.scheduler.hub.switch()
        if self.dead:
            raise GreenletExit

    def wake(self) -> None:
        """End the actor's wait after a short reaction time."""
        number = self._waits
        soon = self.scheduler.now + LEAST_SECONDS * (1 + self.scheduler.dice.random())
        self.scheduler.at(soon, lambda: self._resume(number))

    def end(self, within: greenlet | None) -> None:
        """Kill the actor at its current point; `within` is its background work."""
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
