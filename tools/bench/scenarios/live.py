"""How long it takes from a commit to the receiver while events keep coming, one commit each.

An open loop: latency counts from the time an event was due on a fixed schedule, so a service that
falls behind cannot hide it. The worker of the Procfile, publishers in processes of their own.
"""

import argparse
from typing import Any

from tools.bench import load, steady
from tools.bench.measure import in_ms
from tools.bench.outcome import Outcome, Table
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from tools.bench.steady import Steady


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", type=float, default=500, help="events a second")
    steady.add_options(parser)
    parser.add_argument("--webhooks", type=int, default=10, help="that take turns")


def run(given: argparse.Namespace, rig: Rig) -> Outcome:
    with Receiver(rig.folder) as receiver:
        webhooks = load.webhooks([receiver.url(f"{each}") for each in range(given.webhooks)])
        rig.start()
        done = steady.run(rig, receiver, webhooks, steady.asked(given, given.rate))
    return Outcome(
        table=table(done),
        figures=figures(given.rate, done),
        troubles=done.books.troubles(),
        notes=steady.lateness(done),
    )


def table(done: Steady) -> Table:
    due, commit = in_ms(done.from_due), in_ms(done.from_commit)
    return [
        ("milliseconds to the receiver", *due),
        ("from the scheduled time", *due.values()),
        ("from the commit", *commit.values()),
    ]


def figures(rate: float, done: Steady) -> dict[str, Any]:
    return {
        "events_per_s": rate,
        "from_schedule_ms": in_ms(done.from_due),
        "from_commit_ms": in_ms(done.from_commit),
        "latest_commit_ms": round(1000 * done.late, 1),
        "cpu_s_per_1000": done.cpu_s_per_1000,
        "receiver_share": done.receiver_share,
        **done.books.rows(),
    }
