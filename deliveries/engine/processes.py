"""The processes of a worker that run engine loops, and whatever else must not depend on Celery.

A worker forks a keeper once everything is imported, and the keeper forks the loops. It does nothing
else: no broker, no database, no thread. So a loop that dies is replaced in a moment, by a fork, and
also while the broker is away. Loops end when their keeper ends, the keeper when its worker ends.
"""

import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections

from core.jobs.bell import Bell
from core.jobs.forking import fork_into
from core.watch.process_kinds import become_kind
from deliveries.engine.beside import Beside
from deliveries.engine.loop import Engine
from deliveries.engine.rooms import SLOTS
from deliveries.http.transport import Transport
from webhooks import target_policy
from webhooks.outgoing import parse_proxy

logger = logging.getLogger(__name__)

# A loop that dies again and again is not started without a pause.
RESTART_SECONDS = 0.2
STOP_WITHIN_SECONDS = 12.0
YIELD_SECONDS = 3.0
# No statement of a loop takes long: a server that does not answer by then hangs.
PATIENCE_SECONDS = 10.0
# So many objects more than before are looked through for circles.
GARBAGE_ROUND = 100_000


class LoopKeeper:
    """Keeps `bells` loops running, each with its bell, from `start` to `stop`.

    And a process for each of `others`, which work until SIGTERM.
    """

    def __init__(self, bells: Sequence[Bell], others: Sequence[Callable[[], None]] = ()) -> None:
        loops: list[Callable[[], None]] = [partial(run_loop, bell) for bell in bells]
        self._works = [*loops, *others]
        self._process = 0
        self._stopping = False
        self._ended = threading.Event()

    def start(self) -> None:
        self._process = fork_into(lambda: keep_working(self._works))
        threading.Thread(target=self._watch, name="loop keeper", daemon=True).start()

    def ask_to_stop(self) -> None:
        """Have the loops end what is in flight and claim nothing more. Returns at once."""
        self._stopping = True
        if self._process and not self._ended.is_set():
            os.kill(self._process, signal.SIGTERM)

    def stop(self) -> None:
        """Return once the loops have ended, after STOP_WITHIN_SECONDS at the latest."""
        self.ask_to_stop()
        if not self._ended.wait(STOP_WITHIN_SECONDS):
            text = "engine processes have not ended within %g s; they go on by themselves"
            logger.error(text, STOP_WITHIN_SECONDS)
            os.kill(self._process, signal.SIGKILL)

    def _watch(self) -> None:
        os.waitpid(self._process, 0)
        self._ended.set()
        if not self._stopping:
            # A worker without loops must not look as if it were well: it ends, to be started again.
            logger.critical("the process that keeps the engine loops has died; stopping the worker")
            os.kill(os.getpid(), signal.SIGTERM)


def keep_working(works: Sequence[Callable[[], None]]) -> None:
    """In the keeper: start a process for each, and another for each that ends, until SIGTERM."""
    # Waited for and never handled: no signal comes between a fork and the note of its id.
    heard = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    stopping = False
    children = {fork_into(work): work for work in works}
    while children:
        if signal.sigwait(heard) == signal.SIGTERM:
            stopping = True
            for child in children:
                os.kill(child, signal.SIGTERM)
        for child, status in ended(children):
            work = children.pop(child)
            if stopping:
                continue
            logger.error("an engine process ended with status %d; starting another", status)
            time.sleep(RESTART_SECONDS)
            children[fork_into(work)] = work


def ended(children: Iterable[int]) -> list[tuple[int, int]]:
    """Those of our children that have ended, with their status."""
    looked = [os.waitpid(child, os.WNOHANG) for child in children]
    return [(child, status) for child, status in looked if child]


def run_loop(bell: Bell) -> None:
    """In a child: an engine loop, until SIGTERM; another one where that has yielded its place."""
    become_kind("engine")
    # A delivery makes many objects and no circles of them.
    gc.set_threshold(GARBAGE_ROUND)
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        bell.ring()

    signal.signal(signal.SIGTERM, stop)
    connections.settings[DEFAULT_DB_ALIAS] |= {
        **settings.ENGINE_DATABASE,
        "PATIENCE_SECONDS": PATIENCE_SECONDS,
        "POOLED": False,
    }
    while not stopping.is_set():
        run_engine(stopping.is_set, bell)
        # It was asked for its place: whoever asked is to have it.
        stopping.wait(YIELD_SECONDS)


def run_engine(stop: Callable[[], bool], bell: Bell) -> None:
    """One loop, until it is told to stop or yields its place. It leaves no connection behind."""
    transport = Transport(
        target_policy.current_policy(),
        ca_bundle=settings.DELIVERY_CA_BUNDLE or None,
        timeout_seconds=settings.DELIVERY_TIMEOUT_SECONDS,
        concurrency=SLOTS,
        proxy=parse_proxy(settings.DELIVERY_PROXY),
    )
    with closing(transport), closing(Beside()) as beside:
        connection.settings_dict["WAITER"] = beside
        try:
            Engine(transport, stop, beside, bell).run()
        finally:
            connection.close()
            del connection.settings_dict["WAITER"]
