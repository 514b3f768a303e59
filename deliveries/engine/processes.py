"""Processes of a worker that run engine loops, and other work that must not depend on Celery.

A worker forks a keeper once everything is imported, and the keeper forks the loops: one, and more
while that one is pressed (deliveries.engine.signs). The keeper does nothing else: no broker, no
database, no thread. So it replaces a dead loop in a moment, by a fork, also while the broker is
away. Loops end with their keeper, and the keeper with its worker.
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
from deliveries.engine import leases
from deliveries.engine.loop import Engine
from deliveries.engine.runner import Runner
from deliveries.engine.signs import Sign, another_is_needed, find_spare
from deliveries.engine.slots import SLOTS
from deliveries.http.transport import Transport
from webhooks import target_policy
from webhooks.outgoing import parse_proxy

logger = logging.getLogger(__name__)

# Interval at which the keeper checks the signs of the loops.
LOOK_SECONDS = 0.5
# Pause before a restart, in case the loop dies again and again.
RESTART_SECONDS = 0.2
STOP_WITHIN_SECONDS = 12.0
YIELD_SECONDS = 3.0
# No statement of a loop takes long: a server that has not answered by then hangs.
PATIENCE_SECONDS = 10.0
# Number of new objects that starts a garbage collection.
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
    """Keeper of engine loops, at most one per bell, and of one process for each of `others`."""

    def __init__(self, bells: Sequence[Bell], others: Sequence[Work] = ()) -> None:
        # Signs are created before the fork, so that keeper and loops share their memory.
        self._loops = [LoopWork(bell, Sign()) for bell in bells]
        self._others = others
        self._process = 0
        self._stopping = False
        self._ended = threading.Event()

    def start(self) -> None:
        self._process = fork_into(lambda: supervise(self._others, self._loops))
        threading.Thread(target=self._watch, name="loop keeper", daemon=True).start()

    def ask_to_stop(self) -> None:
        """Let the loops end what is in flight and claim nothing more. Returns at once."""
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
            # A worker without loops must not look healthy: it ends, so that it is restarted.
            logger.critical("the process that keeps the engine loops has died; stopping the worker")
            os.kill(os.getpid(), signal.SIGTERM)


def supervise(works: Sequence[Work], loops: Sequence[LoopWork] = ()) -> None:
    """Keep a process running for each of `works`, and for as many of `loops` as are needed.

    At least one loop runs. Returns when all have ended after SIGTERM.
    """
    # Blocked and waited for, so that none interrupts between a fork and the note of its process id.
    signals = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    crew = ChildProcesses(loops)
    at_once: list[Work] = [*loops[:1], *works]
    for work in at_once:
        crew.start(work)
    while crew.children:
        received = signal.sigtimedwait(signals, LOOK_SECONDS)
        if received and received.si_signo == signal.SIGTERM:
            crew.stop()
        if received:
            crew.replace_ended()
        crew.fit_loops(time.monotonic())


class ChildProcesses:
    """Children of the keeper by process id, and those that have to end."""

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
        for child, status in reap(self.children):
            work = self.children[child]
            if child not in self.leaving:
                logger.error("an engine process ended with status %d; starting another", status)
                if isinstance(work, LoopWork):
                    # It does the work meanwhile, and if the new one dies as well.
                    self.start_another_loop()
                time.sleep(RESTART_SECONDS)
                self.start(work)
            del self.children[child]
            self.leaving.discard(child)

    def fit_loops(self, now: float) -> None:
        """Start a loop if all that run are at their limit, or end one that is not needed."""
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


def reap(children: Iterable[int]) -> list[tuple[int, int]]:
    """Return the children that have ended, with their status."""
    results = [os.waitpid(child, os.WNOHANG) for child in children]
    return [(child, status) for child, status in results if child]


def run_loop(bell: Bell, sign: Sign) -> None:
    """Run an engine loop in a child until SIGTERM; start another when it has yielded its place."""
    become_kind("engine")
    # Deliveries create many objects but no reference cycles.
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
        "IDLE_IN_TRANSACTION_SECONDS": int(leases.IDLE_IN_TRANSACTION_SECONDS),
    }
    while not stopping.is_set():
        run_engine(stopping.is_set, bell, sign)
        sign.wait_until(time.monotonic() + YIELD_SECONDS)
        # Another worker asked for the place of this loop and must get it first.
        stopping.wait(YIELD_SECONDS)


def run_engine(stop: Callable[[], bool], bell: Bell, sign: Sign) -> None:
    """Run one loop until `stop` or until it yields its place, and close its connection."""
    transport = Transport(
        target_policy.current_policy(),
        ca_bundle=settings.DELIVERY_CA_BUNDLE or None,
        timeout_seconds=settings.DELIVERY_TIMEOUT_SECONDS,
        concurrency=SLOTS,
        proxy=parse_proxy(settings.DELIVERY_PROXY),
    )
    with closing(transport), closing(Runner()) as runner:
        connection.settings_dict["WAITER"] = runner
        try:
            Engine(transport, stop, runner, bell, sign).run()
        finally:
            connection.close()
            del connection.settings_dict["WAITER"]
