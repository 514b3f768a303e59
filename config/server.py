"""The web process's gunicorn worker: threads get complete requests, clients get JSON.

The event loop (`config.door.front`) reads requests and sends answers; a thread of the pool has a
request only while the application works on it. So clients that send or read slowly, and those
that do nothing, cost memory alone, and that is bounded
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
from config.door.refusals import given_id
from config.door.sums_writer import SumsWriter
from config.one_deployment import refuse_second_deployment
from config.startup import refuse_unsafe_settings
from core.data import database
from core.data.postgresql.answering import answer_until
from core.measures import catalogue, counting
from core.watch.log_bound import REFUSALS
from core.watch.process_kinds import become_kind
from core.watch.request_ids import named
from core.watch.url_secrets import working_on

# A client hears of a database that hangs within ten seconds, its wait for a thread included.
PATIENCE_SECONDS = 9.0
ANSWER_SECONDS = 9.5
# The sender of a large body is looked up before it is taken in, which delays the answer.
LOOK_UP_SECONDS = 4.0
# Answered by the event loop itself, so also while every thread is busy. It must wait for nothing.
AT_ONCE = "/healthz"
# Of a process's threads, what one company or one stranger has at most, if its work takes long.
SHARE = 0.25
# For requests under way in a process that makes room: each waits there for all before it.
FAREWELL_SECONDS = 60.0


class Worker(ThreadWorker):
    clients: FrontDoor
    queue: FairQueue
    are_known: Callable[[Iterable[tuple[str, str]], str], bool]
    patient: PatientRequests
    have_news: Callable[[Sequence[Any]], list[bool]]
    # Shared by all processes that are forked from the one that calls `setup`.
    going: OneAtATime | None = None
    was_told_to_stop = False

    @classmethod
    def setup(cls) -> None:
        """Called by gunicorn before it forks: what is refused here is said once."""
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        become_kind("web")
        refuse_unsafe_settings()
        django.setup()  # Django warns of questions to the database before
        refuse_second_deployment()
        logs.write_our_lines("gunicorn.error", settings.LOG_FORMAT)
        database.wait_at_most(PATIENCE_SECONDS)
        cls.going = OneAtATime()

    def init_process(self) -> None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        super().init_process()

    def run(self) -> None:
        # For what no request waits for. Its only thread closes its connection in the end.
        self.aside = ThreadPoolExecutor(1, "aside")
        self.sums = SumsWriter(self.aside)
        # These modules cannot be imported before the settings are there.
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
        self.outgrown = Outgrown(settings.WEB_MEMORY_MIB, self.going or OneAtATime())
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
        """Tell if nothing is lost when it stops now; pages that wait for news are answered."""
        return self.queue.is_empty() and not self.clients.crowd.is_in_transfer()

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.was_told_to_stop = True
        super().handle_exit(sig, frame)

    def longest_wait(self) -> float:
        """For how long nothing has to be done unless something comes, in seconds."""
        if self.queue.waiting:
            return self.queue.longest_wait()
        return LOOK_EVERY_SECONDS if self.patient.waiting else 1.0

    def turn(self, seconds: float) -> None:
        self.notify()
        self.wait_for_and_dispatch_events(seconds)
        self.clients.close_overdue()
        self.patient.turn()
        self.queue.go_on()
        REFUSALS.say_left_out()
        self.sums.turn()

    def finish(self, crowd: Crowd) -> None:
        """Answer what has begun, for as long as gunicorn's graceful timeout, or a little longer."""
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
        """Gunicorn kills whoever it told to stop, and waits for those that stop by themselves."""
        limit: int = self.cfg.graceful_timeout
        return limit if self.was_told_to_stop else max(limit, FAREWELL_SECONDS)

    def close_listeners(self) -> None:
        """Take who has connected already, and let nobody connect any more.

        Who is refused asks another process at once. A connection that nobody accepts takes a
        request with it, which a proxy may not send again.
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
        who = self.row_for(request, connection.client, proxy=proxy)
        self.queue.come(who, partial(self.work, time.monotonic(), work, connection, request))

    def work(
        self,
        came: float,
        work: Callable[[Connection, Any], None],
        connection: Connection,
        request: Any,
        turn: ThreadTurn,
    ) -> None:
        """Work on a request, in a thread of the pool."""
        began = time.monotonic()
        counting.count_time(catalogue.THREAD_WAIT, began - came)
        serves = work == self.serve
        # Whoever waits for a hash waits for those of others, and not for the database.
        waited = began - came if turn.who.startswith(HASHING) else 0.0
        due = came + waited + (ANSWER_SECONDS if serves else LOOK_UP_SECONDS)
        try:
            with answer_until(due, strict=not serves), self.after_waiting(waited):
                work(connection, request)
        finally:
            counting.count(catalogue.THREAD_BUSY, by=time.monotonic() - began)
            status = connection.sock.status if serves else 0
            self.method_queue.defer(self.queue.done, turn, status)

    def look_up(self, connection: Connection, request: Any) -> None:
        """Ask who sends a large body, in a thread of the pool."""
        known = True
        try:
            close_old_connections()  # as Django does before a request
            known = self.are_known(request.headers, request.path)
        finally:
            self.method_queue.defer(self.clients.allow, connection, known)

    def look_for_news(self, waiting: Sequence[Waiting]) -> None:
        """Find out for whom there is some, aside."""
        found: list[Waiting] = []
        try:
            close_old_connections()  # as Django does before a request
            told = self.have_news([one.request for one in waiting])
            found = [one for one, news in zip(waiting, told, strict=True) if news]
        except Exception as error:  # they are answered at their time, and asked again
            self.log.warning("cannot look for news of open pages: %s", error)
        finally:
            self.method_queue.defer(self.patient.looked, found)

    def serve(self, connection: Any, request: Any) -> None:
        """Run the application, in a thread of the pool."""
        keep = False
        try:
            keep = self.handle_request(request, connection)
            connection.sock.flush()
        except (ConnectionError, TimeoutError, StopIteration):
            pass  # the client is gone, or the answer broke off behind its headers
        except Exception as error:
            self.fail(connection, error, request)
        finally:
            self.method_queue.defer(self.clients.answered, connection, keep)

    def fail(self, connection: Any, error: Exception, request: Any = None) -> None:
        """Answer what is not HTTP, or an application that broke before its answer."""
        urls = working_on(getattr(request, "uri", ""))
        with suppress(OSError), named(given_id(request)), urls:
            self.handle_error(request, connection.sock, connection.client, error)
