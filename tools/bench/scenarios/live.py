"""Latency from commit to receiver under a steady load of one event per commit.

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


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    with Receiver(rig.folder) as receiver:
        webhooks = load.webhooks([receiver.url(f"{each}") for each in range(args.webhooks)])
        rig.start()
        result = steady.run(rig, receiver, webhooks, steady.requested_load(args, args.rate))
    return Outcome(
        table=table(result),
        figures=figures(args.rate, result),
        troubles=result.books.troubles(),
        notes=steady.lateness(result),
    )


def table(result: Steady) -> Table:
    due, commit = in_ms(result.from_due), in_ms(result.from_commit)
    return [
        ("milliseconds to the receiver", *due),
        ("from the scheduled time", *due.values()),
        ("from the commit", *commit.values()),
    ]


def figures(rate: float, result: Steady) -> dict[str, Any]:
    return {
        "events_per_s": rate,
        "from_schedule_ms": in_ms(result.from_due),
        "from_commit_ms": in_ms(result.from_commit),
        "latest_commit_ms": round(1000 * result.late, 1),
        "cpu_s_per_1000": result.cpu_s_per_1000,
        "receiver_share": result.receiver_share,
        **result.books.rows(),
    }
