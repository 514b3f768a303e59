"""The web process's gunicorn worker: threads get complete requests, and errors are JSON.

The event loop (`config.door.front`) reads requests and sends answers; a thread of the pool has a
request only while the application works on it. So slow and idle clients cost only memory, which is
bounded
(decision pages web-clients-wait-without-a-thread, web-companies-take-turns).
"""

import os
import resource
import selectors
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import django
from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string
from gunicorn.workers.gthread import ThreadWorker

from config import logs
from config.door.connections import Connection
from config.door.crowd import Crowd
from config.door.fair_queue import HASHING, FairQueue, ThreadTurn
from config.door.front import FrontDoor
from config.door.outgrown import MIB, OneAtATime, Outgrown
from config.door.patient import LOOK_EVERY_SECONDS, PatientRequests, Waiting
from config.door.refusals import client_request_id
from config.door.sums_writer import SumsWriter
from config.one_deployment import refuse_second_deployment
from config.startup import refuse_unsafe_settings
from core.data import database
from core.data.postgresql.answering import answer_until
from core.measures import catalogue, counting
from core.watch.log_bound import REFUSALS
from core.watch.process_kinds import become_kind
from core.watch.request_ids import request_scope
from core.watch.url_secrets import working_on

# A client gets an error within ten seconds if the database hangs, its wait for a thread included.
PATIENCE_SECONDS = 9.0
ANSWER_SECONDS = 9.5
# The sender of a large body is looked up before the body is read, which delays the answer.
LOOK_UP_SECONDS = 4.0
# The event loop itself answers this path, even while every thread is busy. It must not block.
AT_ONCE = "/healthz"
# Largest share of a process's threads for one company or one stranger whose work takes long.
SHARE = 0.25
# For requests under way in a process that is being replaced: each waits for all before it.
FAREWELL_SECONDS = 60.0


class Worker(ThreadWorker):
    clients: FrontDoor
    queue: FairQueue
    are_known: Callable[[Iterable[tuple[str, str]], str], bool]
    patient: PatientRequests
    have_news: Callable[[Sequence[Any]], list[bool]]
    # Shared by all processes that are forked from the one that calls `setup`.
    replacement_lock: OneAtATime | None = None
    stop_requested = False

    @classmethod
    def setup(cls) -> None:
        """Prepare and check the master before it forks, so that a refusal is printed once."""
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        become_kind("web")
        refuse_unsafe_settings()
        django.setup()  # Django warns of queries before its setup
        refuse_second_deployment()
        logs.write_our_lines("gunicorn.error", settings.LOG_FORMAT)
        database.wait_at_most(PATIENCE_SECONDS)
        cls.replacement_lock = OneAtATime()

    def init_process(self) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        super().init_process()

    def run(self) -> None:
        # For work that no request waits for. Its only thread closes its connection in the end.
        self.aside = ThreadPoolExecutor(1, "aside")
        self.sums = SumsWriter(self.aside)
        # By name: modules that cannot be imported before the settings are loaded.
        self.row_for = import_string("config.door.askers.row_for")
        self.after_waiting = import_string("desk.people.hashing.after_waiting")
        self.are_known = import_string("config.door.credentials.are_known")
        self.have_news = import_string("desk.live.waiting.have_news")
        import_string("desk.live.waiting.begin_waiting")()
        self.patient = PatientRequests(
            import_string("desk.live.waiting.may_wait"),
            lambda waiting: self.aside.submit(self.look_for_news, waiting),
            partial(self.in_turn, self.serve),
        )
        limits = (self.cfg.worker_connections, settings.CONNECTIONS_PER_ADDRESS)
        crowd = Crowd(*limits, settings.PROXY_ADDRESSES)
        most, share = self.cfg.threads, max(1, int(self.cfg.threads * SHARE))
        hashing = import_string("desk.people.hashing.STRANGERS_AT_ONCE")
        self.queue = FairQueue(most, share, self.tpool.submit, hashing=hashing)
        self.outgrown = Outgrown(settings.WEB_MEMORY_MIB, self.replacement_lock or OneAtATime())
        self.clients = FrontDoor(self.cfg, self.poller, crowd, self.begin, self.ask, self.fail)
        queue: Any = self.method_queue
        self.poller.register(queue.fileno(), selectors.EVENT_READ, queue.run_callbacks)
        self.set_accept_enabled(True)
        while self.alive and self.is_parent_alive():
            self.turn(self.longest_wait())
            if self.outgrown.should_go(self.is_quiet):
                self.log.warning("replaced: more than %d MiB", self.outgrown.limit // MIB)
                self.alive = False
        self.finish(crowd)

    def is_quiet(self) -> bool:
        """Tell if no request is under way, besides pages that wait for news."""
        return self.queue.is_empty() and not self.clients.crowd.is_in_transfer()

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.stop_requested = True
        super().handle_exit(sig, frame)

    def longest_wait(self) -> float:
        """Return the seconds until the next due work, if no event comes before."""
        if self.queue.waiting:
            return self.queue.longest_wait()
        return LOOK_EVERY_SECONDS if self.patient.waiting else 1.0

    def turn(self, seconds: float) -> None:
        self.notify()
        self.wait_for_and_dispatch_events(seconds)
        self.clients.close_overdue()
        self.patient.turn()
        self.queue.start_ready()
        REFUSALS.log_suppressed()
        self.sums.turn()

    def finish(self, crowd: Crowd) -> None:
        """Answer the requests under way and end, at the latest after `farewell_seconds`."""
        self.set_accept_enabled(False)
        self.close_listeners()
        self.clients.stop()
        self.patient.stop()
        began = self.clients.clock()
        while len(crowd) and self.clients.clock() - began < self.farewell_seconds():
            self.turn(0.1)
        self.clients.close()
        self.sums.finish()
        self.aside.shutdown(wait=False)
        self.tpool.shutdown(wait=False)
        self.poller.close()
        self.method_queue.close()

    def farewell_seconds(self) -> float:
        """Return the time limit: gunicorn kills only workers that it has told to stop."""
        limit: int = self.cfg.graceful_timeout
        return limit if self.stop_requested else max(limit, FAREWELL_SECONDS)

    def close_listeners(self) -> None:
        """Accept the clients that have connected already, and refuse further ones.

        A refused client tries another process at once. A connection that nobody accepts would lose
        its request, which a proxy may not send again.
        """
        for listener in self.sockets:
            while self.clients.accept(listener):
                pass
            listener.close()

    def accept(self, listener: socket.socket) -> None:
        self.clients.accept(listener)

    def begin(self, connection: Connection, request: Any) -> None:
        if request.path == AT_ONCE and request.method in ("GET", "HEAD"):
            self.serve(connection, request)
        elif not self.alive or not self.patient.take(connection, request):
            self.in_turn(self.serve, connection, request)

    def ask(self, connection: Connection, request: Any) -> None:
        self.in_turn(self.look_up, connection, request)

    def in_turn(
        self, work: Callable[[Connection, Any], None], connection: Connection, request: Any
    ) -> None:
        proxy = self.clients.crowd.is_trusted(connection)
        row = self.row_for(request, connection.client, proxy=proxy)
        self.queue.add(row, partial(self.work, time.monotonic(), work, connection, request))

    def work(
        self,
        arrived: float,
        work: Callable[[Connection, Any], None],
        connection: Connection,
        request: Any,
        turn: ThreadTurn,
    ) -> None:
        """Work on a request, in a thread of the pool."""
        started = time.monotonic()
        counting.count_time(catalogue.THREAD_WAIT, started - arrived)
        serves = work == self.serve
        # A sign-in waits for the hashes of others, and not for the database.
        waited = started - arrived if turn.row.startswith(HASHING) else 0.0
        due = arrived + waited + (ANSWER_SECONDS if serves else LOOK_UP_SECONDS)
        try:
            with answer_until(due, strict=not serves), self.after_waiting(waited):
                work(connection, request)
        finally:
            counting.count(catalogue.THREAD_BUSY, by=time.monotonic() - started)
            status = connection.sock.status if serves else 0
            self.method_queue.defer(self.queue.finish, turn, status)

    def look_up(self, connection: Connection, request: Any) -> None:
        """Look up the sender of a large body, in a thread of the pool."""
        is_known = True
        try:
            close_old_connections()  # as Django does before a request
            is_known = self.are_known(request.headers, request.path)
        finally:
            self.method_queue.defer(self.clients.allow, connection, is_known)

    def look_for_news(self, waiting: Sequence[Waiting]) -> None:
        """Find the waiting requests with news, in the thread aside."""
        with_news: list[Waiting] = []
        try:
            close_old_connections()  # as Django does before a request
            answers = self.have_news([one.request for one in waiting])
            with_news = [one for one, has_news in zip(waiting, answers, strict=True) if has_news]
        except Exception as error:  # the requests wait on, and are answered at their time
            self.log.warning("cannot look for news of open pages: %s", error)
        finally:
            self.method_queue.defer(self.patient.finish_look, with_news)

    def serve(self, connection: Any, request: Any) -> None:
        """Run the application, in a thread of the pool."""
        keep = False
        try:
            keep = self.handle_request(request, connection)
            connection.sock.flush()
        except (ConnectionError, TimeoutError, StopIteration):
            pass  # the client is gone, or the answer broke off after its headers
        except Exception as error:
            self.fail(connection, error, request)
        finally:
            self.method_queue.defer(self.clients.answered, connection, keep)

    def fail(self, connection: Any, error: Exception, request: Any = None) -> None:
        """Write the error for invalid HTTP, or for an application that failed before its answer."""
        urls = working_on(getattr(request, "uri", ""))
        with suppress(OSError), request_scope(client_request_id(request)), urls:
            self.handle_error(request, connection.sock, connection.client, error)
