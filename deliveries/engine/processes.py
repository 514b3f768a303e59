"""The processes of a worker that run engine loops, and whatever else must not depend on Celery.

A worker forks a keeper once everything is imported, and the keeper forks the loops: one, and more
while that is pressed (deliveries.engine.signs). It does nothing else: no broker, no database, no
thread. So a loop that dies is replaced in a moment, by a fork, and also while the broker is away.
Loops end when their keeper ends, the keeper when its worker ends.
"""

import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections

from core.jobs.bell import Bell
from core.jobs.forking import fork_into
from core.watch.process_kinds import become_kind
from deliveries.engine.beside import Beside
from deliveries.engine.loop import Engine
from deliveries.engine.rooms import SLOTS
from deliveries.engine.signs import Sign, another_is_needed, find_spare
from deliveries.http.transport import Transport
from webhooks import target_policy
from webhooks.outgoing import parse_proxy

logger = logging.getLogger(__name__)

# The keeper looks so often at the signs of the loops.
LOOK_SECONDS = 0.5
# A loop that dies again and again is not started without a pause.
RESTART_SECONDS = 0.2
STOP_WITHIN_SECONDS = 12.0
YIELD_SECONDS = 3.0
# No statement of a loop takes long: a server that does not answer by then hangs.
PATIENCE_SECONDS = 10.0
# So many objects more than before are looked through for circles.
GARBAGE_ROUND = 100_000

Work = Callable[[], None]


@dataclass(frozen=True, eq=False)
class LoopWork:
    """Work of a process that runs an engine loop, with its bell and its sign of life."""

    bell: Bell
    sign: Sign

    def __call__(self) -> None:
        run_loop(self.bell, self.sign)


class LoopKeeper:
    """Keeps loops running from `start` to `stop`, at most one for each of `bells`.

    And a process for each of `others`, which work until SIGTERM.
    """

    def __init__(self, bells: Sequence[Bell], others: Sequence[Work] = ()) -> None:
        # Their memory is shared, as it is made before the keeper is forked.
        self._loops = [LoopWork(bell, Sign()) for bell in bells]
        self._others = others
        self._process = 0
        self._stopping = False
        self._ended = threading.Event()

    def start(self) -> None:
        self._process = fork_into(lambda: keep_working(self._others, self._loops))
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


def keep_working(works: Sequence[Work], loops: Sequence[LoopWork] = ()) -> None:
    """Start, in the keeper, a process for each of `works`, and another for each that ends, until
    SIGTERM; and as many of `loops` as have something to do, but at least one.
    """
    # Waited for and never handled: no signal comes between a fork and the note of its id.
    heard = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    crew = Crew(loops)
    at_once: list[Work] = [*loops[:1], *works]
    for work in at_once:
        crew.start(work)
    while crew.children:
        got = signal.sigtimedwait(heard, LOOK_SECONDS)
        if got and got.si_signo == signal.SIGTERM:
            crew.stop()
        if got:
            crew.replace_ended()
        crew.fit_loops(time.monotonic())


class Crew:
    """Children of the keeper by process id, and those of them that are to end."""

    def __init__(self, loops: Sequence[LoopWork]) -> None:
        self.loops = loops
        self.children: dict[int, Work] = {}
        self.leaving: set[int] = set()
        self.stopping = False

    def start(self, work: Work) -> None:
        if isinstance(work, LoopWork):
            work.sign.begin(time.monotonic())
        self.children[fork_into(work)] = work

    def stop(self) -> None:
        self.stopping = True
        for child in self.children:
            self.end(child)

    def end(self, child: int) -> None:
        os.kill(child, signal.SIGTERM)
        self.leaving.add(child)

    def replace_ended(self) -> None:
        for child, status in ended(self.children):
            work = self.children[child]
            if child not in self.leaving:
                logger.error("an engine process ended with status %d; starting another", status)
                if isinstance(work, LoopWork):
                    # Meanwhile, and should it end again, others go on.
                    self.start_another_loop()
                time.sleep(RESTART_SECONDS)
                self.start(work)
            del self.children[child]
            self.leaving.discard(child)

    def fit_loops(self, now: float) -> None:
        """Start a loop where those that run could do no more, or end one that nobody needs."""
        if self.stopping or not self.loops:
            return
        running = {
            work.sign: child
            for child, work in self.children.items()
            if isinstance(work, LoopWork) and child not in self.leaving
        }
        if another_is_needed(running, now):
            self.start_another_loop()
        elif spare := find_spare(running, now):
            self.end(running[spare])

    def start_another_loop(self) -> None:
        working = self.children.values()
        if free := [loop for loop in self.loops if loop not in working]:
            self.start(free[0])


def ended(children: Iterable[int]) -> list[tuple[int, int]]:
    """Those of our children that have ended, with their status."""
    looked = [os.waitpid(child, os.WNOHANG) for child in children]
    return [(child, status) for child, status in looked if child]


def run_loop(bell: Bell, sign: Sign) -> None:
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
        run_engine(stopping.is_set, bell, sign)
        sign.wait_until(time.monotonic() + YIELD_SECONDS)
        # It was asked for its place: whoever asked is to have it.
        stopping.wait(YIELD_SECONDS)


def run_engine(stop: Callable[[], bool], bell: Bell, sign: Sign) -> None:
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
            Engine(transport, stop, beside, bell, sign).run()
        finally:
            connection.close()
            del connection.settings_dict["WAITER"]
