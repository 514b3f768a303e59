"""The way to PostgreSQL, which is the real one: each statement goes when the seed lets it.

A statement has two ends: it arrives, when it is carried out by the server at the time of the
simulation, and its answer arrives. Between the two a connection may break, so that a commit that
has come through is not heard of. One that waits for a lock lets the others go on.
"""

import math
import os
import select
from collections.abc import Callable, Generator
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.utils import load_backend
from greenlet import GreenletExit, getcurrent, greenlet

from tools.faults.simulation.scheduler import EPOCH, Actor, Scheduler

READ, WRITE = 1, 2
# Real time after which a statement that has not been answered is looked at: it may wait for a lock.
LOOK_AFTER_MS = 20
BLOCKED = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
GONE = "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s)"
# Before pg_catalog, so that the statements of the service read the time of the simulation. The
# clock is a file, and its size the microseconds that have gone by: nothing else can be told to all
# connections at once without a statement for it.
PATH = "-c search_path=simulated,public,pg_catalog"
SCHEMA = """
CREATE SCHEMA IF NOT EXISTS simulated;
CREATE SEQUENCE IF NOT EXISTS simulated.ids;
CREATE OR REPLACE FUNCTION simulated.deliveries_uuid() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(nextval('simulated.ids')), 12, '0'))::uuid
$$;
"""
CLOCK = """
CREATE OR REPLACE FUNCTION simulated.{name}() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT '{beginning}'::timestamptz + (pg_stat_file('{file}')).size * interval '1 microsecond'
$$;
"""
CLOCKS = ("statement_timestamp", "clock_timestamp", "now")


NO_TROUBLE = ("", 0.001, 0.001)


class Statement:
    """A statement on its way. `trouble` is what happens to it."""

    def __init__(self, actor: Actor, steps: Generator[int, int, Any], descriptor: int) -> None:
        self.actor, self.steps, self.descriptor = actor, steps, descriptor
        self.done = False
        self.value: Any = None
        self.error: BaseException | None = None
        self.wanted = 0


class Lines:
    """All connections. `trouble_of` says what happens to the next statement of an actor:
    "" for nothing, "before", "after" or "hangs", and for how many seconds it is on its way.
    """

    def __init__(self, scheduler: Scheduler, observer: Any, clock: Path) -> None:
        self.scheduler = scheduler
        self._clock = clock
        self.trouble_of: Callable[[Actor], tuple[str, float, float]] = lambda actor: NO_TROUBLE
        self.is_away: Callable[[], bool] = lambda: False
        self.tell: Callable[..., None] = lambda *said, **facts: None
        self.note: Callable[[str, str], None] = lambda who, what: None
        self._observer = observer
        self._blocked: list[Statement] = []
        self._links: list[Any] = []

    def open_for(self, actor: Actor, waiter: Any, **settings: Any) -> None:
        """Give an actor a connection of its own, which is opened when it is first used."""
        base = connections.settings[DEFAULT_DB_ALIAS]
        options = {**base["OPTIONS"], "options": PATH}
        given = {**base, "OPTIONS": options, "WAITER": waiter, "PATIENCE_SECONDS": 10.0, **settings}
        actor.connection = load_backend(base["ENGINE"]).DatabaseWrapper(given, DEFAULT_DB_ALIAS)

    def connect(self, actor: Actor, make: Callable[[], Any]) -> Any:
        """Open a connection, unless the actor is being killed: leaving a transaction reconnects."""
        if actor.dead:
            raise GreenletExit
        link = make()
        self._links.append(link)
        return link

    def close(self) -> None:
        """Close whatever the actors of a run have left open."""
        for link in self._links:
            link.close()

    def send(
        self, actor: Actor, steps: Generator[int, int, Any], descriptor: int, patience: float
    ) -> Statement:
        statement = Statement(actor, steps, descriptor)
        trouble, there, back = self.trouble_of(actor)
        if trouble:
            self.tell("database", who=actor.name, trouble=trouble, asks=actor.asks)
        self.note(actor.name, actor.asks)
        at = self.scheduler.now + there
        self.scheduler.at(at, lambda: self._arrive(statement, trouble, back, patience))
        return statement

    def cut(self, actor: Actor) -> None:
        """Close its connection, as the end of its process does, and wait for the server's end."""
        link = actor.connection.connection if actor.connection else None
        self._blocked = [each for each in self._blocked if each.actor is not actor]
        if link is None or link.closed:
            return
        number = link.pgconn.backend_pid
        link.pgconn.finish()
        while not self._ask(GONE, number):
            pass

    def look_at_blocked(self) -> None:
        """Go on with statements whose lock is free by now."""
        for statement in list(self._blocked):
            if not self._waits_for_lock(statement):
                self._blocked.remove(statement)
                self._carry_out(statement, 0.001, "")

    def _arrive(self, statement: Statement, trouble: str, back: float, patience: float) -> None:
        actor = statement.actor
        if actor.dead:
            return
        link = actor.connection.connection
        if trouble == "before" or self.is_away():
            self._break(statement, link)
            return
        gone_by = self.scheduler.wall() - EPOCH
        os.truncate(self._clock, gone_by // timedelta(microseconds=1))
        if trouble == "hangs":
            back = patience
        self._carry_out(statement, back, trouble, first=True)

    def _carry_out(
        self, statement: Statement, back: float, trouble: str, *, first: bool = False
    ) -> None:
        try:
            if first:
                statement.wanted = next(statement.steps)
            while True:
                ready = self._ready(statement)
                if not ready:
                    self._blocked.append(statement)
                    return
                statement.wanted = statement.steps.send(ready)
        except StopIteration as end:
            statement.value = end.value
        except psycopg.Error as error:
            statement.error = error
        if trouble == "after":
            self._break(statement, statement.actor.connection.connection, back)
            return
        if trouble == "hangs":
            statement.error = TimeoutError()
        self._answer(statement, back)

    def _break(self, statement: Statement, link: Any, back: float = 0.001) -> None:
        number = link.pgconn.backend_pid
        link.pgconn.finish()
        while not self._ask(GONE, number):
            pass
        statement.error = psycopg.OperationalError("the connection is lost")
        self._answer(statement, back)

    def _answer(self, statement: Statement, back: float) -> None:
        def arrive() -> None:
            statement.done = True
            statement.actor.wake()

        self.scheduler.at(self.scheduler.now + back, arrive)

    def _ready(self, statement: Statement) -> int:
        """Return which of the wanted READ and WRITE is possible; 0 where it waits for a lock."""
        poll = select.poll()
        reading = select.POLLIN if statement.wanted & READ else 0
        writing = select.POLLOUT if statement.wanted & WRITE else 0
        poll.register(statement.descriptor, reading | writing)
        while True:
            if found := poll.poll(LOOK_AFTER_MS):
                writable = WRITE if found[0][1] & select.POLLOUT else 0
                return writable | (READ if found[0][1] & ~select.POLLOUT else 0)
            if self._waits_for_lock(statement):
                return 0

    def _waits_for_lock(self, statement: Statement) -> bool:
        link = statement.actor.connection.connection
        return bool(self._ask(BLOCKED, link.pgconn.backend_pid))

    def _ask(self, question: str, number: int) -> Any:
        return self._observer.execute(question, [number]).fetchone()[0]


class Line:
    """The waiter of an actor without a loop, for its statements."""

    def __init__(self, actor: Actor, lines: Lines) -> None:
        self._actor, self._lines = actor, lines

    @property
    def working(self) -> bool:
        return self._actor.goes

    def wait(self, steps: Generator[int, int, Any], descriptor: int, seconds: float) -> Any:
        if self._actor.dead:
            raise GreenletExit
        statement = self._lines.send(self._actor, steps, descriptor, seconds)
        while not statement.done:
            self._actor.wait()
        if statement.error:
            raise statement.error
        return statement.value

    def elsewhere(self, make: Callable[[], Any]) -> Any:
        if self._lines.is_away():
            self._actor.wait(self._lines.scheduler.now + 0.01)
            raise psycopg.OperationalError("the server is away")
        return self._lines.connect(self._actor, make)


class Beside:
    """A deliveries.engine.beside.Beside on the clock of the simulation."""

    def __init__(self, actor: Actor, lines: Lines) -> None:
        self._actor, self._lines, self._clock = actor, lines, lines.scheduler
        self._until = math.inf
        self._loop: greenlet | None = None
        self._statement: Statement | None = None
        self.work: greenlet | None = None

    def fileno(self) -> int:
        return -1

    @property
    def working(self) -> bool:
        return getcurrent() is self.work

    @property
    def ready(self) -> bool:
        """Return whether the work can go on."""
        if not self.work or self.work.dead:
            return False
        return bool(self._statement and self._statement.done) or self._clock.now >= self._until

    def begin(self, work: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        self._loop, self.work = getcurrent(), greenlet(run)
        self.work.switch()
        return future

    def go_on(self, seconds: float = 0.0) -> None:
        if seconds and not self.ready:
            self._actor.wait(self._clock.now + seconds)
        if self.ready and self.work:
            self.work.switch()

    def patience(self, now: float) -> float:
        return max(0.0, self._until - now) if self.work and not self.work.dead else 0.0

    def finish(self, work: Callable[[], Any]) -> Any:
        future = self.begin(work)
        while not future.done():
            self.go_on(1.0)
        return future.result()

    def pause(self, seconds: float) -> None:
        self._until = self._clock.now + seconds
        self._clock.at(self._until, self._actor.wake)
        self._give_way()

    def wait(self, steps: Generator[int, int, Any], descriptor: int, seconds: float) -> Any:
        if self._actor.dead:
            raise GreenletExit
        statement = self._statement = self._lines.send(self._actor, steps, descriptor, seconds)
        while not statement.done:
            self._give_way()
        self._statement = None
        if statement.error:
            raise statement.error
        return statement.value

    def elsewhere(self, make: Callable[[], Any]) -> Any:
        if self._lines.is_away():
            self.pause(0.01)
            raise psycopg.OperationalError("the server is away")
        return self._lines.connect(self._actor, make)

    def _give_way(self) -> None:
        try:
            if self._loop:
                self._loop.switch()
        finally:
            self._until = math.inf
        if self._actor.dead:
            raise GreenletExit
