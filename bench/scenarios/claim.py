"""How long the engine takes to find and claim what is due, however much waits.

No network: lanes and claim are called as the engine does; what healthy webhooks are given is then
recorded as delivered, and what a dead one is given is given back. Each queue is measured three
times: as PostgreSQL knows it that has never looked at it, as it knows it that has looked while it
was empty, and after ANALYZE.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from bench import claims, rows
from bench.claims import Claimer, Timed
from bench.measure import in_ms
from bench.outcome import Outcome, Table
from bench.progress import say
from bench.rig import Rig
from deliveries.models import Health, State

HEALTHY = 49
ROWS_OF_EACH = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--waiting", type=int, default=10_000, help="of healthy webhooks")
    parser.add_argument("--dead", type=int, default=1_000_000, help="rows of the dead webhook")
    parser.add_argument("--webhooks", type=int, default=10_000, help="in the queue with many")
    parser.add_argument("--rounds", type=int, default=200, help="claims that are timed, each time")
    parser.add_argument("--explain", action="store_true", help="show PostgreSQL's plans")


# What the planner believes of the queue, and how it comes to believe so.
BELIEFS: dict[str, Callable[[], None]] = {
    "nothing": lambda: None,
    "empty": rows.know_as_empty,
    "the truth": rows.analyze,
}


@dataclass(frozen=True)
class Measured:
    queue: str
    believed: str
    timed: Timed

    def row(self) -> dict[str, Any]:
        return {
            "queue": self.queue,
            "believed": self.believed,
            "deliveries_per_claim": round(self.timed.claimed / len(self.timed.claim), 1),
            "lanes_ms": in_ms(self.timed.lanes, 2),
            "claim_ms": in_ms(self.timed.claim, 2),
            "both_ms": in_ms(self.timed.both, 2),
            "record_ms": in_ms(self.timed.record, 2),
        }


class Queue:
    """Rows of healthy webhooks, kept at about `size` while claims take from them.

    `others` is how many rows the dead webhook has besides.
    """

    def __init__(
        self, name: str, healthy: list[int], size: int, dead: Sequence[int] = (), others: int = 0
    ) -> None:
        self.name = name
        self.healthy = healthy
        self.size = size
        self.others = others
        self.claimer = Claimer(dead)
        self.left = self.delivered = 0

    def fill(self) -> None:
        self.left += rows.wait(self.healthy, self.size - self.left)

    def measure(self, rounds: int, believed: str) -> Measured:
        say(f"{self.name}: {rounds} claims, PostgreSQL believes: {believed}")
        BELIEFS[believed]()
        timed = Timed()
        for _ in range(rounds):
            if self.left <= self.size / 2:
                self.fill()
            delivered = self.claimer.claim(timed)
            self.left -= delivered
            self.delivered += delivered
        return Measured(self.name, believed, timed)

    def troubles(self) -> list[str]:
        """Why the database does not hold what was made; nothing when it does."""
        expected = {State.WAITING: self.left + self.others, State.DELIVERED: self.delivered}
        found = rows.counted()
        return (
            [] if found == expected else [f"{self.name}: {expected} were made, {found} are there"]
        )


def run(given: argparse.Namespace, _: Rig) -> Outcome:
    measured: list[Measured] = []
    plans: list[str] = []
    troubles: list[str] = []
    for queue in queues(given):
        queue.fill()
        for believed in BELIEFS:
            with claims.engine_s_connection():
                measured.append(queue.measure(given.rounds, believed))
                if given.explain:
                    title = f"{queue.name}, PostgreSQL believes {believed}"
                    plans += [f"{title}: {each}" for each in claims.plans()]
        troubles += queue.troubles()
    return Outcome(table=table(measured), figures=figures(measured), troubles=troubles, notes=plans)


def queues(given: argparse.Namespace) -> Iterator[Queue]:
    """Each with its rows, and none of the one before."""
    rows.forget()
    yield Queue("one webhook", rows.webhooks(1), given.waiting)
    tomorrow = timezone.now() + timedelta(days=1)
    for name, health in (
        ("beside a dead webhook that rests", {"rests": 5, "resting_until": tomorrow}),
        ("beside a dead webhook that only fails", {}),
    ):
        rows.forget()
        healthy, dead = rows.webhooks(HEALTHY), rows.webhooks(1)
        Health.objects.create(webhook_id=dead[0], failures=5, **health)
        say(f"making {given.dead} deliveries wait for a dead webhook")
        yield Queue(name, healthy, given.waiting, dead, rows.wait(dead, given.dead))
    rows.forget()
    size = max(given.waiting, ROWS_OF_EACH * given.webhooks)
    yield Queue("many webhooks", rows.webhooks(given.webhooks), size)


def table(measured: list[Measured]) -> Table:
    heading = ("lanes p50 ms", "claim p50 ms", "both p99 ms", "record p99 ms")
    lines: list[tuple[object, ...]] = [("queue", "believed", "claimed", *heading)]
    for each in measured:
        row = each.row()
        p50 = (row["lanes_ms"]["p50"], row["claim_ms"]["p50"])
        p99 = (row["both_ms"]["p99"], row["record_ms"]["p99"])
        lines.append((each.queue, each.believed, row["deliveries_per_claim"], *p50, *p99))
    return lines


def figures(measured: list[Measured]) -> dict[str, Any]:
    queues = [each.row() for each in measured]
    return {"worst_p99_ms": max(row["both_ms"]["p99"] for row in queues), "queues": queues}
