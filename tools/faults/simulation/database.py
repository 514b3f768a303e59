"""Connections to a real PostgreSQL, on which the seed decides when each statement runs.

A statement has two steps: it arrives, and the server executes it at the simulated time; then its
answer arrives. In between the connection may break, so that the answer to a commit is lost. A
statement that waits for a lock lets the others continue.
"""

import math
import os
import select
from collections import defaultdict
from collections.abc import Callable, Generator
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.utils import load_backend
from greenlet import GreenletExit, getcurrent, greenlet
from psycopg.pq import TransactionStatus

from tools.faults.simulation.scheduler import EPOCH, Actor, Scheduler

READ, WRITE = 1, 2
IN_TRANSACTION = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
# Real time after which a statement without an answer is checked: it may wait for a lock.
LOOK_AFTER_MS = 20
BLOCKED = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
# A backend that waits for a lock does not notice that its client is gone.
END_BACKEND = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid = %s"
# Schema `simulated` precedes pg_catalog, so that the service's statements read the simulated time.
# The clock is a file whose size is the elapsed microseconds, as nothing else can be changed for
# all connections at once without a statement.
# Connections outlive runs, and a plan must not depend on how often one was used before.
PATH = "-c search_path=simulated,public,pg_catalog -c plan_cache_mode=force_generic_plan"
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
# Time at which the transaction of each connection began, as a file's size as well.
BEGAN = """
CREATE OR REPLACE FUNCTION simulated.pg_stat_get_activity(pid integer)
RETURNS TABLE (state text, xact_start timestamptz) LANGUAGE sql VOLATILE AS $$
  SELECT 'active', '{beginning}'::timestamptz
    + (pg_stat_file('{folder}/began-' || pid, true)).size * interval '1 microsecond'
$$;
"""
CLOCKS = ("statement_timestamp", "clock_timestamp", "now")


NO_TROUBLE = ("", 0.001, 0.001)

# Connections of actors that have ended in good order, by `idle_seconds`: loops set their planner,
# and people do not. A new connection has to read the catalog first, which takes longer than what a
# person does with it.
Spare = defaultdict[float, list[Any]]


class Statement:
    """Statement in progress, with the `trouble` that happens to it."""

    def __init__(self, actor: Actor, steps: Generator[int, int, Any], descriptor: int) -> None:
        self.actor, self.steps, self.descriptor = actor, steps, descriptor
        self.finished = False
        self.value: Any = None
        self.error: BaseException | None = None
        self.wanted = 0


class Lines:
    """All connections.

    `trouble_of` returns the trouble of an actor's next statement ("" for none, "before", "after" or
    "hangs"), and the seconds that the statement and its answer take.
    """

    def __init__(self, scheduler: Scheduler, observer: Any, clock: Path, spare: Spare) -> None:
        self.scheduler = scheduler
        self._clock = clock
        self._spare = spare
        self.trouble_of: Callable[[Actor], tuple[str, float, float]] = lambda actor: NO_TROUBLE
        self.is_away: Callable[[], bool] = lambda: False
        self.tell: Callable[..., None] = lambda *words, **facts: None
        self.note: Callable[[str, str], None] = lambda who, what: None
        self._observer = observer
        self._blocked: list[Statement] = []
        self._links: list[Any] = []
        # Time at which the server ends the connection of an actor that is idle in a transaction.
        self._idle_until: dict[Actor, float] = {}

    def open_for(
        self, actor: Actor, waiter: Any, idle_seconds: float = math.inf, **settings: Any
    ) -> None:
        """Give an actor a connection of its own, which is opened on first use.

        The server ends it after `idle_seconds` in a transaction without a statement.
        """
        actor.idle_seconds = idle_seconds
        base = connections.settings[DEFAULT_DB_ALIAS]
        options = {**base["OPTIONS"], "options": PATH}
        parameters = {
            **base,
            "OPTIONS": options,
            "WAITER": waiter,
            "PATIENCE_SECONDS": 10.0,
            **settings,
        }
        actor.connection = load_backend(base["ENGINE"]).DatabaseWrapper(
            parameters, DEFAULT_DB_ALIAS
        )

    def connect(self, actor: Actor, make: Callable[[], Any]) -> Any:
        """Open a connection, unless the actor is being killed, which may try to reconnect."""
        if actor.dead:
            raise GreenletExit
        spare = self._spare[actor.idle_seconds]
        link = spare.pop() if spare else make()
        self._links.append(link)
        return link

    def release(self, actor: Actor) -> None:
        """Keep the connection of an actor that has ended in good order."""
        link = actor.connection.connection
        if link is None or link.closed or link.info.transaction_status != TransactionStatus.IDLE:
            self.cut(actor)
            return
        actor.connection.connection = None
        self._links.remove(link)
        self._spare[actor.idle_seconds].append(link)

    def close(self) -> None:
        """Close connections that the actors of a run have left open."""
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
        """Close an actor's connection, like its process's end, and wait for the backend's end."""
        link = actor.connection.connection if actor.connection else None
        self._blocked = [each for each in self._blocked if each.actor is not actor]
        if link is not None:
            self._end(link)

    def look_at_blocked(self) -> None:
        """Continue statements whose lock has become free."""
        for statement in list(self._blocked):
            if not self._waits_for_lock(statement):
                self._blocked.remove(statement)
                self._carry_out(statement, 0.001, "")

    def _arrive(self, statement: Statement, trouble: str, back: float, patience: float) -> None:
        actor = statement.actor
        if actor.dead:
            return
        self._idle_until.pop(actor, None)
        link = actor.connection.connection
        if trouble == "before" or self.is_away():
            self._break(statement, link)
            return
        gone_by = self.scheduler.wall() - EPOCH
        os.truncate(self._clock, gone_by // timedelta(microseconds=1))
        if not link.closed and link.info.transaction_status not in IN_TRANSACTION:
            began = self._clock.with_name(f"began-{link.info.backend_pid}")
            began.touch()
            os.truncate(began, gone_by // timedelta(microseconds=1))
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
        self._watch_idle(statement.actor)
        if trouble == "after":
            self._break(statement, statement.actor.connection.connection, back)
            return
        if trouble == "hangs":
            statement.error = TimeoutError()
        self._answer(statement, back)

    def _watch_idle(self, actor: Actor) -> None:
        link = actor.connection.connection
        if link.info.transaction_status not in IN_TRANSACTION:
            return
        until = self._idle_until[actor] = self.scheduler.now + actor.idle_seconds

        def end() -> None:
            if self._idle_until.get(actor) == until:
                self._end(link)

        if until < math.inf:
            self.scheduler.at(until, end)

    def _end(self, link: Any) -> None:
        """Close a connection unless it is closed, and wait for the end of its backend."""
        if link.closed:
            return
        number = link.pgconn.backend_pid
        link.pgconn.finish()
        while self._ask(END_BACKEND, number):
            pass

    def _break(self, statement: Statement, link: Any, back: float = 0.001) -> None:
        self._end(link)
        statement.error = psycopg.OperationalError("the connection is lost")
        self._answer(statement, back)

    def _answer(self, statement: Statement, back: float) -> None:
        def arrive() -> None:
            statement.finished = True
            statement.actor.wake()

        self.scheduler.at(self.scheduler.now + back, arrive)

    def _ready(self, statement: Statement) -> int:
        """Return which of the wanted READ and WRITE is possible; 0 if it waits for a lock."""
        poll = select.poll()
        reading = select.POLLIN if statement.wanted & READ else 0
        writing = select.POLLOUT if statement.wanted & WRITE else 0
        poll.register(statement.descriptor, reading | writing)
        while True:
            if ready := poll.poll(LOOK_AFTER_MS):
                writable = WRITE if ready[0][1] & select.POLLOUT else 0
                return writable | (READ if ready[0][1] & ~select.POLLOUT else 0)
            if self._waits_for_lock(statement):
                return 0

    def _waits_for_lock(self, statement: Statement) -> bool:
        link = statement.actor.connection.connection
        return bool(self._ask(BLOCKED, link.pgconn.backend_pid))

    def _ask(self, question: str, number: int) -> Any:
        return self._observer.execute(question, [number]).fetchone()[0]


class Line:
    """Waiter for the statements of an actor without a loop."""

    def __init__(self, actor: Actor, lines: Lines) -> None:
        self._actor, self._lines = actor, lines

    @property
    def working(self) -> bool:
        return self._actor.goes

    def wait(self, steps: Generator[int, int, Any], descriptor: int, seconds: float) -> Any:
        if self._actor.dead:
            raise GreenletExit
        statement = self._lines.send(self._actor, steps, descriptor, seconds)
        while not statement.finished:
            self._actor.wait()
        if statement.error:
            raise statement.error
        return statement.value

    def run_in_thread(self, make: Callable[[], Any]) -> Any:
        if self._lines.is_away():
            self._actor.wait(self._lines.scheduler.now + 0.01)
            raise psycopg.OperationalError("the server is away")
        return self._lines.connect(self._actor, make)


class Runner:
    """Simulated deliveries.engine.runner.Runner, on the clock of the run."""

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
        """Return True if the work can continue."""
        if not self.work or self.work.dead:
            return False
        return bool(self._statement and self._statement.finished) or self._clock.now >= self._until

    def start(self, work: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        self._loop, self.work = getcurrent(), greenlet(run)
        self.work.switch()
        return future

    def resume(self, seconds: float = 0.0) -> None:
        if seconds and not self.ready:
            self._actor.wait(self._clock.now + seconds)
        if self.ready and self.work:
            self.work.switch()

    def seconds_left(self, now: float) -> float:
        return max(0.0, self._until - now) if self.work and not self.work.dead else 0.0

    def run(self, work: Callable[[], Any]) -> Any:
        future = self.start(work)
        while not future.done():
            self.resume(1.0)
        return future.result()

    def pause(self, seconds: float) -> None:
        self._until = self._clock.now + seconds
        self._clock.at(self._until, self._actor.wake)
        self._give_way()

    def wait(self, steps: Generator[int, int, Any], descriptor: int, seconds: float) -> Any:
        if self._actor.dead:
            raise GreenletExit
        statement = self._statement = self._lines.send(self._actor, steps, descriptor, seconds)
        while not statement.finished:
            self._give_way()
        self._statement = None
        if statement.error:
            raise statement.error
        return statement.value

    def run_in_thread(self, make: Callable[[], Any]) -> Any:
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
