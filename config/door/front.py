"""The event loop's share of all connections: everything but the application's work."""

import logging
import selectors
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EMFILE, ENFILE
from functools import partial
from http import HTTPStatus
from typing import Any

from config.door import allowances
from config.door.connections import Connection, Stage
from config.door.crowd import Crowd
from config.door.incoming import BadChunks
from config.door.refusals import write_error

logger = logging.getLogger(__name__)
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
RECEIVED_AT_ONCE = 64 * 1024
# A connection is closed at most this long after its deadline.
LOOK_SECONDS = 0.5
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

TOO_MANY = "Too many connections from this address."
TOO_SLOW = "The body did not arrive in time."
NO_ROOM = "Too many large requests at once. Try again in a moment."

Answer = Callable[[Connection, Any], None]
Fail = Callable[[Connection, Exception], None]


class FrontDoor:
    """Reader of requests and sender of answers for all connections; it blocks on none of them.

    `answer` is called with each complete request, `ask` with one whose body is larger than a
    stranger's may be. They return at once, and later call `answered` or `allow` in the event loop.
    `fail` writes the answer to a request that could not be read.
    """

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(
        self,
        cfg: Any,
        poller: selectors.BaseSelector,
        crowd: Crowd,
        answer: Answer,
        ask: Answer,
        fail: Fail,
    ) -> None:
        self.cfg = cfg
        self.poller = poller
        self.crowd = crowd
        self.answer = answer
        self.ask = ask
        self.fail = fail
        self.stopping = False
        self.next_look = 0.0

    def accept(self, listener: socket.socket) -> bool:
        """Accept a client; return False if none has connected."""
        try:
            raw, client = listener.accept()
        except OSError as error:
            if error.errno in (EMFILE, ENFILE):
                self.make_room()
            return False
        raw.setblocking(False)
        connection = Connection(raw, client, listener.getsockname(), self.cfg)
        if self.crowd.is_full():
            self.make_room()
        if not self.crowd.add(connection):
            with suppress(OSError):
                write_error(connection.sock, 429, "Too Many Requests", TOO_MANY)
                connection.sock.flush()
                raw.recv(RECEIVED_AT_ONCE)  # closing over unread bytes resets the connection
            raw.close()
            return True
        # A proxy may open connections ahead. Other clients' first bytes are due at once.
        self.wait(connection, Stage.IDLE if self.crowd.is_trusted(connection) else Stage.HEAD)
        return True

    def make_room(self) -> None:
        if (connection := self.crowd.longest_waiting()) is not None:
            self.drop(connection)

    def drop(self, connection: Connection) -> None:
        self.watch(connection, 0)
        self.crowd.remove(connection)
        if connection.stage is not Stage.ANSWER:  # then a thread uses it
            connection.sock.release()
        connection.raw.close()

    def watch(self, connection: Connection, events: int) -> None:
        previous, connection.events = connection.events, events
        if not previous and events:
            self.poller.register(connection.raw, events, partial(self.on_event, connection))
        elif previous and not events:
            self.poller.unregister(connection.raw)
        elif previous != events:
            self.poller.modify(connection.raw, events, partial(self.on_event, connection))

    def wait(self, connection: Connection, stage: Stage) -> None:
        """Wait for the client, until the deadline of the stage."""
        connection.stage = stage
        connection.deadline = self.clock() + connection.patience(
            stage, self.cfg.keepalive, self.stopping
        )
        self.crowd.mark_waiting(connection)
        self.watch(connection, WRITE if stage is Stage.READER else READ)

    @contextmanager
    def guarded(self, connection: Connection) -> Iterator[None]:
        """Drop the connection if the block fails, so that an error concerns it alone."""
        try:
            yield
        except OSError:
            self.drop(connection)
        except Exception:
            logger.exception("a connection failed")
            self.drop(connection)

    def on_event(self, connection: Connection, _: object) -> None:
        if connection not in self.crowd:
            return  # dropped since the poller reported it
        with self.guarded(connection):
            if connection.stage is Stage.ANSWER:
                self.watch(connection, 0)  # nothing is read before the answer is sent
            elif connection.stage is Stage.READER:
                self.send(connection)
            else:
                self.receive(connection)

    def receive(self, connection: Connection) -> None:
        try:
            data = connection.raw.recv(RECEIVED_AT_ONCE)
        except BlockingIOError:
            return
        if not data:
            self.drop(connection)
        elif connection.stage is not Stage.END:
            connection.incoming.feed(data)
            self.crowd.count_bytes(connection)
            self.advance(connection)

    def advance(self, connection: Connection) -> None:
        """Pass on the next request if it is complete; otherwise wait for its rest."""
        incoming = connection.incoming
        try:
            request = incoming.next_with_host()
        except BadChunks as error:
            self.refuse(connection, HTTPStatus.BAD_REQUEST, str(error))
        except Exception as error:
            self.fail(connection, error)
            self.end(connection)
        else:
            if request is None and not incoming.needs_sender:
                self.wait_for_the_rest(connection)
                return
            connection.stage = Stage.ANSWER
            self.crowd.mark_busy(connection)
            if incoming.needs_sender:
                self.ask(connection, incoming.request)
            else:
                self.answer(connection, request)

    def allow(self, connection: Connection, is_known: bool) -> None:
        """Respond to `ask`: read the whole body if the sender is known, otherwise refuse it."""
        connection.incoming.allow(is_known)
        with self.guarded(connection):
            self.advance(connection)

    def wait_for_the_rest(self, connection: Connection) -> None:
        stage = Stage.BODY if connection.incoming.request else Stage.HEAD
        if stage is Stage.BODY and connection.incoming.take_expectation():
            connection.sock.sendall(CONTINUE)
            connection.sock.flush()
        if stage is not connection.stage:  # a few more bytes do not extend a deadline
            self.wait(connection, stage)
        self.relieve()

    def relieve(self) -> None:
        """Refuse the largest waiting requests until memory and disk are within their limits."""
        while (largest := self.crowd.connection_to_close()) is not None:
            with self.guarded(largest):
                self.refuse(largest, HTTPStatus.SERVICE_UNAVAILABLE, NO_ROOM)

    def answered(self, connection: Connection, keep: bool) -> None:
        """Send the rest of an answer that the application has finished."""
        connection.keep = keep
        with self.guarded(connection):
            self.send(connection)
            self.relieve()

    def send(self, connection: Connection) -> None:
        """Send what the client takes; after the answer, begin the next request or close."""
        is_complete = connection.sock.flush()
        self.crowd.count_bytes(connection)
        if not is_complete:
            if connection.stage is not Stage.READER:
                self.wait(connection, Stage.READER)
        elif not connection.keep:
            connection.raw.shutdown(socket.SHUT_WR)
            self.wait(connection, Stage.END)
        elif connection.incoming.received:
            self.advance(connection)
        else:
            self.wait(connection, Stage.IDLE)

    def refuse(self, connection: Connection, status: HTTPStatus, message: str) -> None:
        """Write an error without the application; close if an answer is on its way already."""
        if connection.stage not in (Stage.IDLE, Stage.HEAD, Stage.BODY):
            self.drop(connection)
            return
        request = connection.incoming.request
        write_error(connection.sock, status, status.phrase, message, request)
        self.end(connection)

    def end(self, connection: Connection) -> None:
        """Close once the client has read everything that was written to it."""
        connection.keep = False
        connection.incoming.forget()
        self.send(connection)

    def close_overdue(self) -> None:
        if (now := self.clock()) < self.next_look:
            return
        self.next_look = now + LOOK_SECONDS
        for connection in [each for each in self.crowd if each.deadline < now]:
            with self.guarded(connection):
                if connection.stage is Stage.BODY:
                    self.refuse(connection, HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW)
                elif connection.stage is Stage.READER and connection.reads_on():
                    self.wait(connection, Stage.READER)
                elif connection.stage is not Stage.ANSWER:
                    self.drop(connection)

    def stop(self) -> None:
        """Shorten the deadlines of idle connections to STOP_SECONDS, now and later."""
        self.stopping = True
        soon = self.clock() + allowances.STOP_SECONDS
        for connection in self.crowd:
            if not connection.size() and connection.incoming.request is None:
                connection.deadline = min(connection.deadline, soon)

    def close(self) -> None:
        for connection in list(self.crowd):
            self.drop(connection)
