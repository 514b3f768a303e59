"""What one, two and four workers deliver, how they share it, and what it takes of disk and WAL.

A backlog to many webhooks, by so many workers with so many loops together, each worker a process
tree of its own as it would be on a host of its own. Then events that keep coming while a worker
joins and another leaves. Last, tickets. Judged: nothing is lost or repeated, and each worker uses
its part of the processor time, give or take two fifths: one of them also runs the periodic tasks.
"""

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.test import override_settings

from bench import books, cpu, draining, load
from bench import rig as service
from bench.books import Books
from bench.crew import are_even
from bench.outcome import Outcome, Table, verdict
from bench.progress import say, until, until_count
from bench.receiver import Receiver
from bench.rig import Rig
from bench.volumes import Volume, volume
from companies.models import Company
from tickets import opening
from tickets.changes.actors import Actor
from tickets.statuses import By
from webhooks.models import Webhook

DELIVERY_TABLES = ("deliveries_event", "deliveries_delivery", "deliveries_attempt")
CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
LEAST_PART, MOST_PART = 0.6, 1.4
# Carrier activation: it names no shipment, so none is a duplicate of another.
TICKET_TYPE = 2


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--teams",
        nargs="*",
        default=["1:1", "1:2", "1:4", "2:2", "2:4", "4:4"],
        metavar="WORKERS:LOOPS",
        help="workers, and their loops together",
    )
    parser.add_argument("--size", type=int, default=60_000, help="deliveries that wait, each time")
    parser.add_argument("--webhooks", type=int, default=64, help="they are for")
    parser.add_argument("--rate", type=float, default=500, help="events a second while they change")
    parser.add_argument("--seconds", type=float, default=30, help="that they keep coming")
    parser.add_argument("--tickets", type=int, default=2_000, help="that are opened")


@dataclass(frozen=True)
class Team:
    """`parts` are those of the workers of all their processor time, each from 0 to 1."""

    workers: int
    loops: int
    deliveries_per_s: float
    cpu_s_per_1000: dict[str, float]
    connections: int
    parts: list[float]
    volume: dict[str, float]
    books: Books

    def row(self) -> dict[str, Any]:
        return {
            "workers": self.workers,
            "loops": self.loops,
            "deliveries_per_s": self.deliveries_per_s,
            "cpu_s_per_1000": self.cpu_s_per_1000,
            "connections": self.connections,
            "parts": self.parts,
            "bytes": self.volume,
            "ok": not self.broken(),
        }

    def broken(self) -> list[str]:
        fair = 1 / self.workers
        return [
            f"{self.workers} workers: one had {part:.0%} of a backlog, its part is {fair:.0%}"
            for part in self.parts
            if not LEAST_PART * fair <= part <= MOST_PART * fair
        ]


def run(given: argparse.Namespace, rig: Rig) -> Outcome:
    with Receiver(rig.folder) as receiver:
        urls = [receiver.url("in")] * given.webhooks
        teams = []
        for asked in given.teams:
            workers, loops = map(int, asked.split(":"))
            with team(rig, workers, loops):
                teams.append(drain(rig, receiver, load.webhooks(urls), workers, loops, given.size))
        changing = come_and_go(rig, receiver, load.webhooks(urls), given)
    ticket = open_tickets(given.tickets)
    failures = [word for each in teams for word in each.broken()]
    if changing.repeats:
        failures.append(f"{changing.repeats} repeats while workers came and went")
    return Outcome(
        table=table(teams, changing, ticket),
        figures={
            "teams": [each.row() for each in teams],
            "changing": changing.rows(),
            "ticket": ticket,
        },
        troubles=[
            *(word for each in teams for word in each.books.troubles()),
            *changing.troubles(),
        ],
        failures=failures,
    )


@contextmanager
def team(rig: Rig, workers: int, loops: int) -> Iterator[None]:
    """So many workers and beat for the length of a block, with all their loops alive."""
    say(f"starting {workers} workers with {loops} loops together")
    rig.service.environment["DELIVERY_LOOPS"] = str(loops)
    with override_settings(DELIVERY_LOOPS=loops):
        for number in range(workers):
            rig.service.start("worker", name(number))
        rig.service.start("beat")
        try:
            until(lambda: are_even(workers, loops), "not all loops came up, as many in each worker")
            yield
        finally:
            for each in list(rig.service.processes):
                rig.end(each)


def name(number: int) -> str:
    return f"worker-{number}"


def drain(
    rig: Rig, receiver: Receiver, webhooks: list[Webhook], workers: int, loops: int, size: int
) -> Team:
    say(f"{size} deliveries, {workers} workers, {loops} loops")
    roots = {name(number): rig.service.processes[name(number)].pid for number in range(workers)}
    meter = cpu.Meter({**roots, "postgres": service.postgres()})
    before = volume(DELIVERY_TABLES)
    receiver.clear()
    published = publish(webhooks, size)
    draining.ring()
    until_count(receiver.count, size, f"{size} deliveries")
    links = connections()
    ids = [webhook.pk for webhook in webhooks]
    until(lambda: not draining.waiting(ids), "the last deliveries were not recorded")
    used, _ = meter.read()
    arrivals = receiver.arrivals()
    after: Volume = volume(DELIVERY_TABLES)
    workers_used = sum(used[each] for each in roots)
    return Team(
        workers=workers,
        loops=loops,
        deliveries_per_s=draining.rate(arrivals),
        cpu_s_per_1000=draining.per_1000(
            {"worker": workers_used, "postgres": used["postgres"]}, size
        ),
        connections=links,
        parts=[round(used[each] / workers_used, 3) for each in roots],
        volume=after.since(before, size),
        books=books.balance(published, ids, arrivals),
    )


def connections() -> int:
    """Of all workers and beat; ours is left out."""
    with connection.cursor() as cursor:
        cursor.execute(CONNECTIONS)
        return int(cursor.fetchone()[0])


def publish(webhooks: list[Webhook], size: int) -> int:
    return load.publish([webhook.company_id for webhook in webhooks], size)


def come_and_go(
    rig: Rig, receiver: Receiver, webhooks: list[Webhook], given: argparse.Namespace
) -> Books:
    """Two workers; a third joins after a third of the time, the first leaves after two."""
    receiver.clear()
    published = 0
    steps = [("joins", given.seconds / 3), ("leaves", 2 * given.seconds / 3)]
    with team(rig, 2, 2):
        say(f"{given.rate:g} events a second while a worker joins and another leaves")
        begun = time.monotonic()
        while (now := time.monotonic() - begun) < given.seconds:
            if steps and now >= steps[0][1]:
                change(rig, steps.pop(0)[0])
            due = int(given.rate * now) - published
            if due > 0:
                published += publish(webhooks, due)
            time.sleep(0.02)
        ids = [webhook.pk for webhook in webhooks]
        until(lambda: not draining.waiting(ids), "the last deliveries were not recorded")
    return books.balance(published, ids, receiver.arrivals())


def change(rig: Rig, what: str) -> None:
    if what == "joins":
        rig.service.start("worker", name(2))
    else:
        rig.service.ask_to_stop(name(0))


def open_tickets(count: int) -> dict[str, float]:
    """Bytes for a ticket, with its history, search entry and event."""
    say(f"opening {count} tickets")
    company = Company.objects.create(name="Opens tickets")
    before = volume(("tickets_",))
    for number in range(count):
        opening.open_ticket(
            company,
            Actor(By.COMPANY),
            type_id=TICKET_TYPE,
            comments=f"Please switch on the carrier for our account, request {number}.",
            data=json.dumps({"name": f"Shop number {number}"}),
        )
    return volume(("tickets_",)).since(before, count)


def table(teams: list[Team], changing: Books, ticket: dict[str, float]) -> Table:
    lines: list[tuple[object, ...]] = [
        ("workers", "loops", "deliveries/s", *CPU, "connections", "parts", "WAL B", "disk B", "")
    ]
    for each in teams:
        lines.append(
            (
                each.workers,
                each.loops,
                each.deliveries_per_s,
                *(f"{each.cpu_s_per_1000[one]:.3f}" for one in ("worker", "postgres")),
                each.connections,
                " ".join(f"{part:.0%}" for part in each.parts),
                each.volume["wal"],
                each.volume["disk"],
                verdict(not each.broken()),
            )
        )
    blank = ("",) * 4
    lines.append(
        ("come and go", "", "", *blank, changing.published, f"{changing.repeats} repeats", "")
    )
    lines.append(("a ticket", "", "", *blank, ticket["wal"], ticket["disk"], ""))
    return lines


CPU = ("worker CPU s/1000", "postgres CPU s/1000")
