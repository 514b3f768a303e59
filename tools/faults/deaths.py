"""Kills by kill -9 at a chosen moment: in a handshake, in a request, after an answer."""

import argparse
import os
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any

from django.db import connection

from deliveries.models import Loop
from tools.faults import in_flight, ledger
from tools.faults.feeding import event_numbered, publish_numbered, register_signed
from tools.faults.ledger import Event
from tools.faults.processes import children_of, group_members, wait_until_gone
from tools.faults.receiver import Answer, Received
from tools.faults.rig import Rig
from tools.faults.scenarios import LateAnswers, nothing_waits, patiently, until
from tools.faults.steady import Steady
from tools.faults.verdict import Verdict, broken

# Limit from a kill until everything in flight has arrived, with fast receivers.
RECOVERED_WITHIN_SECONDS = 6.0
# Limit if a whole worker has to start first.
STARTED_WITHIN_SECONDS = 30.0
EVENTS = 200
ANSWER_AFTER_SECONDS = 0.05


class Killer:
    """Callable that kills the worker once, from any thread, and restarts it at once."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.at = 0.0
        self.claimed: set[Event] = set()
        self._ready = threading.Semaphore(0)
        self._was_killed = threading.Event()

    def arm(self) -> None:
        self._was_killed.clear()
        self._ready.release()

    def __call__(self) -> None:
        if not self._ready.acquire(blocking=False):
            return
        self.rig.service.freeze("worker")
        self.claimed |= in_flight.claimed(in_flight.loops_of(self.rig.service, "worker"))
        self.at = time.time()
        self.rig.service.kill("worker")
        self.rig.service.start("worker")
        self._was_killed.set()

    def wait(self) -> None:
        until(self._was_killed.is_set, 60)


def killed_by_receiver(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Let the receiver kill the worker in the handshake, after the body, or after its 200."""
    webhook = register_signed(rig.company, rig.receiver)
    rig.service.start("worker")
    killer, slowest, numbers = Killer(rig), 0.0, 0

    def in_request(received: Received) -> Answer:
        killer()
        return Answer()

    for phase in ("handshake", "request", "answer") * args.times:
        if phase == "handshake" and numbers:
            # A running worker would reuse its connections, without a handshake.
            rig.service.kill("worker")
            rig.service.start("worker")
        rig.receiver.connected = killer if phase == "handshake" else lambda: None
        rig.receiver.answer = {
            "request": in_request,
            "answer": lambda received: Answer(then=killer),
        }.get(phase, lambda received: Answer())
        killer.arm()
        publish_numbered(rig.company, range(numbers, numbers + EVENTS))
        numbers += EVENTS
        killer.wait()
        until(nothing_waits)
        slowest = max(slowest, time.time() - killer.at)
    figures = {
        **ledger.summary(
            rig.receiver.log, [event_numbered(each) for each in range(numbers)], webhook.secret
        ),
        "kills": 3 * args.times,
        "repeats_at_most": len(killer.claimed),
        "longest_seconds_to_the_last": round(slowest, 1),
    }
    return figures, broken(
        figures,
        at_most={
            "repeats": figures["repeats_at_most"],
            "longest_seconds_to_the_last": RECOVERED_WITHIN_SECONDS,
        },
        at_least={"repeats": 1},
    )


def parts_killed(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Kill a worker's processes one by one: a child, a loop, their keeper, only the parent."""
    webhook = register_signed(rig.company, rig.receiver)
    rig.receiver.answer = LateAnswers(rig.receiver, ANSWER_AFTER_SECONDS)
    rig.service.start("worker")
    claimed: set[Event] = set()
    slowest = 0.0
    left_behind = 0
    with Steady(rig.company, args.per_second) as steady:
        for part in ("child", "loop", "keeper", "parent", "quit"):
            before = len(rig.receiver.log)
            until(lambda before=before: len(rig.receiver.log) > before + 20, 60)
            until(lambda: bool(in_flight.claimed()), 60)
            parent = rig.service.processes["worker"].pid
            claimed |= in_flight.claimed()
            members = group_members(parent)
            at = time.time()
            hurt(part, parent)
            # A worker without loops ends by itself, or it would seem healthy.
            if part in ("keeper", "parent", "quit"):
                left_behind += wait_until_gone(members)
                rig.service.kill("worker")
                rig.service.start("worker")
            until(lambda at=at: any(each.at > at + 1 for each in list(rig.receiver.log)), 60)
            first = min(each.at for each in rig.receiver.log if each.at > at + 1)
            slowest = max(slowest, first - at)
            claimed |= in_flight.claimed()
    until(patiently(nothing_waits))
    figures = {
        **ledger.summary(rig.receiver.log, steady.events, webhook.secret),
        "processes_left_behind": left_behind,
        "repeats_at_most": len(claimed),
        "longest_seconds_to_the_next": round(slowest, 1),
    }
    return figures, broken(
        figures,
        at_most={
            "processes_left_behind": 0,
            "repeats": figures["repeats_at_most"],
            "longest_seconds_to_the_next": STARTED_WITHIN_SECONDS,
        },
    )


def hurt(part: str, parent: int) -> None:
    if part == "parent":
        os.kill(parent, signal.SIGKILL)
    elif part == "quit":
        os.kill(parent, signal.SIGQUIT)
    else:
        loops = [loop.process_id for loop in Loop.objects.filter(lost=False)]
        keepers = [pid for pid in children_of(parent) if children_of(pid)]
        tasks = [pid for pid in children_of(parent) if pid not in keepers]
        victims: Sequence[int] = {"loop": loops, "keeper": keepers, "child": tasks}[part]
        os.kill(victims[0], signal.SIGKILL)


def power_cut(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Kill web, worker, PostgreSQL and the broker at once by kill -9, and restart them."""
    webhook = register_signed(rig.company, rig.receiver)
    rig.receiver.answer = LateAnswers(rig.receiver, ANSWER_AFTER_SECONDS)
    start_all(rig)
    claimed: set[Event] = set()
    with Steady(rig.company, args.per_second) as steady:
        for _ in range(args.times):
            before = len(rig.receiver.log)
            until(patiently(lambda before=before: len(rig.receiver.log) > before + 50))
            until(patiently(lambda: bool(in_flight.claimed())), 60)
            claimed |= in_flight.claimed()
            at = time.time()
            cut(rig)
            claimed |= in_flight.claimed()
            start_all(rig)
            until(lambda at=at: any(each.at > at + 1 for each in list(rig.receiver.log)))
    ended = time.time()
    until(patiently(nothing_waits))
    figures: dict[str, Any] = {
        **ledger.summary(rig.receiver.log, steady.certain(rig.receiver.log), webhook.secret),
        "cuts": args.times,
        "published_unsure": len(steady.unsure),
        "repeats_at_most": len(claimed),
        "seconds_until_nothing_waits": round(time.time() - ended, 1),
    }
    return figures, broken(
        figures,
        at_most={
            "repeats": figures["repeats_at_most"],
            "seconds_until_nothing_waits": STARTED_WITHIN_SECONDS,
        },
    )


def start_all(rig: Rig) -> None:
    for kind in ("web", "worker"):
        rig.service.start(kind)


def cut(rig: Rig) -> None:
    """Kill everything, and restart the two servers."""
    for name in tuple(rig.service.processes):
        rig.service.freeze(name)
    rig.broker.process.kill()
    rig.kill_database()
    for name in tuple(rig.service.processes):
        rig.service.kill(name)
    connection.close()
    for server in (rig.postgres, rig.broker):
        server.process.wait()
        server.start_and_wait()
