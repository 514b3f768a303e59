"""Simulated network and receivers, in place of deliveries.http.transport.

A request departs, its lease is checked just before its first byte, it arrives, and is answered.
Each step is noted in the ledger as it happens.
"""

import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from deliveries.http.answers import Failure, Reply
from deliveries.http.proxies import Outage
from deliveries.http.transport import Request
from tools.faults.simulation.database import Runner
from tools.faults.simulation.scheduler import Actor, Scheduler

TIMEOUT_SECONDS = 5.0
# Probability that a request in flight is lost with its dying host.
GOES_ALONG = 0.5


@dataclass
class Mood:
    """Behaviour of a receiver: status (None: no answer), and largest delay in seconds.

    `arrives` and `answer_arrives` tell if a request, and its answer, get through.
    """

    name: str
    status: int | None
    seconds: float
    retry_after: int | None = None
    arrives: bool = True
    answer_arrives: bool = True


WELL = Mood("well", 200, 0.05)


@dataclass
class Flight:
    number: int
    transport: "Transport"
    request: Request
    started: float
    over: bool = False


class Network:
    """Receivers by URL, and requests in flight."""

    def __init__(
        self, scheduler: Scheduler, dice: random.Random, tell: Callable[..., None]
    ) -> None:
        self.scheduler, self.dice, self.tell = scheduler, dice, tell
        self.mood_of: Callable[[str], Mood] = lambda url: WELL
        # Called with each new step of a loop's request.
        self.comes: Callable[[str, Actor], None] = lambda moment, actor: None
        self._number = 0

    def dial(self, transport: "Transport", request: Request) -> None:
        self._number += 1
        flight = Flight(self._number, transport, request, self.scheduler.now)
        self.tell(
            "dialled",
            flight=flight.number,
            loop=transport.actor.name,
            url=request.url,
            headers=dict(request.headers),
            body=request.body.decode(),
        )
        end = flight.started + TIMEOUT_SECONDS
        self.scheduler.at(end, lambda: self._end(flight, None, Failure.TIMEOUT))
        self.scheduler.at(self._soon(0.01), lambda: self._leave(flight))

    def _soon(self, most: float) -> float:
        return self.scheduler.now + most * self.dice.random()

    def _leave(self, flight: Flight) -> None:
        transport, actor = flight.transport, flight.transport.actor
        if flight.over or actor.dead:
            return
        if self.scheduler.now < actor.frozen_until:
            self.scheduler.at(actor.frozen_until, lambda: self._leave(flight))
            return
        mood = self.mood_of(flight.request.url)
        if not mood.arrives and mood.seconds < TIMEOUT_SECONDS:
            self._end(flight, None, Failure.REFUSED)
            return
        if not transport.may_send(flight.request.key):
            self._end(flight, None, Failure.NOT_SENT)
            return
        self.tell("sent", flight=flight.number)
        self.comes("sent", actor)
        if mood.arrives:
            self.scheduler.at(self._soon(0.01), lambda: self._arrive(flight, mood))

    def _arrive(self, flight: Flight, mood: Mood) -> None:
        actor = flight.transport.actor
        if actor.host_is_gone and self.dice.random() < GOES_ALONG:
            return
        self.tell("seen", flight=flight.number, status=mood.status)
        self.comes("seen", actor)
        if mood.status is None or not mood.answer_arrives:
            if mood.seconds < TIMEOUT_SECONDS:
                at = self._soon(mood.seconds)
                self.scheduler.at(at, lambda: self._end(flight, None, Failure.RESET))
            return
        at = self._soon(mood.seconds)
        self.scheduler.at(at, lambda: self._end(flight, mood.status, None, mood.retry_after))

    def _end(
        self, flight: Flight, status: int | None, error: Failure | None, wait: int | None = None
    ) -> None:
        actor = flight.transport.actor
        if flight.over or actor.dead:
            return
        unseen = self.scheduler.now < actor.frozen_until
        if status and unseen and actor.frozen_until > flight.started + TIMEOUT_SECONDS:
            # A loop that is away longer than the timeout sees only the timeout.
            return
        flight.over = True
        milliseconds = round((self.scheduler.now - flight.started) * 1000)
        reply = Reply(flight.request.key, status, error, "", b"", milliseconds, wait)
        self.tell("ended", flight=flight.number, status=status, error=str(error or ""), wait=wait)
        self.comes("ended", actor)
        flight.transport.take(reply)


class Bell:
    """Simulated core.jobs.bell.Bell, which wakes an actor."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self.rung = False

    def fileno(self) -> int:
        return -1

    def ring(self) -> None:
        self.rung = True
        self._actor.wake()

    def silence(self) -> bool:
        rung, self.rung = self.rung, False
        return rung


@dataclass(eq=False)
class Transport:
    """Simulated deliveries.http.transport.Transport of one loop."""

    actor: Actor
    network: Network
    bell: Bell
    runner: Runner
    concurrency: int = 2048
    in_flight: int = 0
    rung: bool = False
    outage: Outage = field(default_factory=Outage)
    may_send: Callable[[Hashable], bool] = lambda key: True

    def __post_init__(self) -> None:
        self._replies: list[Reply] = []

    def start(self, request: Request) -> None:
        self.in_flight += 1
        self.network.dial(self, request)

    def take(self, reply: Reply) -> None:
        self.in_flight -= 1
        self._replies.append(reply)
        self.actor.wake()

    def wake_for(self, descriptor: int) -> None:
        """Ignore the descriptor: bell and background work are always checked."""

    def ask_before_sending(self, may_send: Callable[[Hashable], bool]) -> None:
        self.may_send = may_send

    def wait(self, seconds: float) -> list[Reply]:
        ready = self._replies or self.bell.rung or self.runner.ready
        self.actor.wait(self.network.scheduler.now + (0.0 if ready else seconds))
        self.rung = self.bell.rung or self.runner.ready
        replies, self._replies = self._replies, []
        return replies

    def close(self) -> None:
        """Do nothing: there are no connections to close."""
