"""How fast a backlog is delivered to many webhooks on many hosts, encrypted, connections kept.

The hosts are names below localhost with one certificate for all, from an authority made for the
run; every host name has connections of its own, as strangers' would.
"""

import argparse
from typing import Any

from bench import draining, load
from bench.draining import Drained
from bench.outcome import Outcome, Table
from bench.receiver import Receiver
from bench.rig import Rig

DOMAIN = "shops.localhost"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=int, default=20_000, help="deliveries that wait")
    parser.add_argument("--webhooks", type=int, default=1_000, help="they are for")
    parser.add_argument("--hosts", type=int, default=100, help="names those webhooks are on")


def run(given: argparse.Namespace, rig: Rig) -> Outcome:
    with Receiver(rig.folder, tls=[f"*.{DOMAIN}"]) as receiver:
        rig.start()
        webhooks = load.webhooks(
            [
                receiver.url(f"{number}", host=f"shop{number % given.hosts}.{DOMAIN}")
                for number in range(given.webhooks)
            ]
        )
        drained = draining.drain(rig, receiver, webhooks, given.size)
    return Outcome(
        table=table(given, drained),
        figures=figures(given, drained),
        troubles=drained.books.troubles(),
    )


def table(given: argparse.Namespace, drained: Drained) -> Table:
    return [
        ("webhooks", "hosts", "waiting", "deliveries/s", *draining.CPU_HEADINGS, "lost"),
        (
            given.webhooks,
            given.hosts,
            drained.size,
            drained.deliveries_per_s,
            *draining.cpu_columns(drained.cpu_s_per_1000),
            drained.books.lost,
        ),
    ]


def figures(given: argparse.Namespace, drained: Drained) -> dict[str, Any]:
    return {
        "deliveries_per_s": drained.deliveries_per_s,
        "webhooks": given.webhooks,
        "hosts": given.hosts,
        **drained.row(),
    }
