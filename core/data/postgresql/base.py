"""Bounded waits for PostgreSQL; a server that refuses writes counts as away.

statement_timeout works only as long as the server does. A server that hangs, or that a network has
cut off, would be waited for until the kernel gives up, after a quarter of an hour.
"""

import math
import select
import time
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any, Protocol

import psycopg
from django.db.backends.postgresql import base
from psycopg.errors import ReadOnlySqlTransaction, _WaitTimeout

from core.data.postgresql.answering import SILENCE

# A server that answered this recently is trusted, unless it has closed the connection.
TRUSTED_SECONDS = 1.0


class Waiter(Protocol):
    """Interface of an event loop that works on while one of its connections waits."""

    @property
    def working(self) -> bool:
        """True if called from a context in which it can wait."""

    def wait(self, steps: Any, descriptor: int, seconds: float) -> Any:
        """Wait like psycopg.waiting.wait; raises TimeoutError when the time is over."""

    def run_in_thread(self, make: Any) -> Any:
        """Call `make`, which blocks, outside of the loop and return its result."""


class BoundedConnection(psycopg.Connection[Any]):
    """Connection that waits for a statement for at most `patience` seconds; None is for ever.

    No transaction of ours is read-only, so a server that refuses a write as read-only is no longer
    the primary. The connection is closed, and the next one finds the new primary.
    """

    patience: float | None = None
    waiter: Waiter | None = None
    used_at = 0.0

    def is_quiet(self) -> bool:
        """Return whether the server has neither sent anything nor closed the connection."""
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN)
        return not poll.poll(0)

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait for an answer like psycopg, but for a bounded time.

        Closes the connection and raises OperationalError when the time is over, or if the server
        takes no writes.
        """
        try:
            seconds = SILENCE.seconds_left(self.patience if timeout is None else timeout)
        except psycopg.OperationalError:
            self.pgconn.finish()
            raise
        self.used_at = time.monotonic()
        try:
            if self.waiter and self.waiter.working:
                answer = self.waiter.wait(gen, self.pgconn.socket, seconds or math.inf)
            else:
                answer = super().wait(gen, interval, seconds)
            SILENCE.began = False
            return answer
        except (_WaitTimeout, TimeoutError):
            self.pgconn.finish()
            SILENCE.began = True
            raise psycopg.OperationalError(
                f"the database has not answered for {seconds:g} seconds"
            ) from None
        except ReadOnlySqlTransaction as error:
            self.pgconn.finish()
            raise psycopg.OperationalError(
                "the database takes no writes: it is the primary no longer"
            ) from error


def bounded_psycopg() -> ModuleType:
    """Return a copy of the module psycopg whose `connect` makes bounded connections."""
    module = ModuleType(psycopg.__name__)
    vars(module).update({**vars(psycopg), "connect": BoundedConnection.connect})
    return module


class DatabaseWrapper(base.DatabaseWrapper):
    """Backend bounded by PATIENCE_SECONDS of the database's settings; its WAITER waits, if set."""

    Database = bounded_psycopg()

    def get_new_connection(self, conn_params: dict[str, Any]) -> BoundedConnection:
        seconds = SILENCE.connect_seconds(int(conn_params.get("connect_timeout") or 0))
        make = partial(super().get_new_connection, {**conn_params, "connect_timeout": seconds})
        waiter: Waiter | None = self.settings_dict.get("WAITER")
        # Blocks: names are resolved, and servers tried one after the other.
        try:
            connection: BoundedConnection = waiter.run_in_thread(make) if waiter else make()
        except psycopg.errors.ConnectionTimeout:
            SILENCE.began = True
            raise
        connection.patience = self.settings_dict.get("PATIENCE_SECONDS")
        connection.waiter = waiter
        return connection

    def is_usable(self) -> bool:
        """Check a persistent connection; Django calls this before a request's first statement.

        One that was used a moment ago and has not been closed since is trusted without a query
        (decision page web-threads-keep-their-connection).
        """
        current: BoundedConnection | None = self.connection
        if current is not None and time.monotonic() - current.used_at < TRUSTED_SECONDS:
            with suppress(psycopg.Error, OSError):
                return current.is_quiet() or super().is_usable()
        return super().is_usable()
