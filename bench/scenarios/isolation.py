"""What receivers that accept and never answer do to the deliveries of the others.

Each rate is measured twice, on webhooks made for it: all of them healthy, then with some that stay
silent among them. Latency is that of the healthy webhooks, from when an event was due.
"""

import argparse
from dataclasses import dataclass
from typing import Any

from bench import draining, load, steady
from bench.measure import in_ms
from bench.outcome import Outcome, Table
from bench.receiver import Receiver
from bench.rig import Rig
from bench.steady import Steady


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rates", type=float, nargs="+", default=[60, 500], help="events a second")
    steady.add_options(parser)
    parser.add_argument("--webhooks", type=int, default=50, help="that take turns")
    parser.add_argument("--silent", type=int, default=5, help="how many of them never answer")


@dataclass(frozen=True)
class Pair:
    """The same rate without the silent receivers and with them."""

    rate: float
    without: Steady
    among: Steady

    @property
    def ratio(self) -> float:
        """How many times longer the healthy ones' p99 is with silent ones among them."""
        return round(in_ms(self.among.from_due)["p99"] / in_ms(self.without.from_due)["p99"], 2)


def run(given: argparse.Namespace, rig: Rig) -> Outcome:
    with Receiver(rig.folder) as receiver:
        rig.start()
        pairs = [
            Pair(
                rate,
                without=phase(given, rig, receiver, rate, silent=0),
                among=phase(given, rig, receiver, rate, silent=given.silent),
            )
            for rate in given.rates
        ]
    phases = [done for pair in pairs for done in (pair.without, pair.among)]
    return Outcome(
        table=table(pairs),
        figures=figures(pairs),
        troubles=[trouble for done in phases for trouble in done.books.troubles()],
        notes=[note for done in phases for note in steady.lateness(done)],
    )


def phase(
    given: argparse.Namespace, rig: Rig, receiver: Receiver, rate: float, silent: int
) -> Steady:
    webhooks = load.webhooks(urls(receiver, given.webhooks, silent))
    done = steady.run(rig, receiver, webhooks, steady.asked(given, rate))
    draining.retire(webhooks)
    return done


def urls(receiver: Receiver, webhooks: int, silent: int) -> list[str]:
    """Each on a host of its own, so that none shares the other's connections."""
    return [
        receiver.url("silent" if number < silent else "in", host=f"shop{number}.localhost")
        for number in range(webhooks)
    ]


def table(pairs: list[Pair]) -> Table:
    rows: list[tuple[object, ...]] = [
        ("events/s", "silent", "healthy delivered", "p50 ms", "p99 ms", "p99 ratio")
    ]
    for pair in pairs:
        for word, done, ratio in (("no", pair.without, ""), ("yes", pair.among, pair.ratio)):
            ms = in_ms(done.from_due)
            rows.append((f"{pair.rate:g}", word, done.books.delivered, ms["p50"], ms["p99"], ratio))
    return rows


def figures(pairs: list[Pair]) -> dict[str, Any]:
    return {
        "worst_p99_ratio": max(pair.ratio for pair in pairs),
        "lost": sum(pair.without.books.lost + pair.among.books.lost for pair in pairs),
        "rates": [
            {
                "events_per_s": pair.rate,
                "without": row(pair.without),
                "with": row(pair.among),
                "p99_ratio": pair.ratio,
            }
            for pair in pairs
        ],
    }


def row(done: Steady) -> dict[str, Any]:
    return {
        "healthy_ms": in_ms(done.from_due),
        "healthy_from_commit_ms": in_ms(done.from_commit),
        "latest_commit_ms": round(1000 * done.late, 1),
        "cpu_s_per_1000": done.cpu_s_per_1000,
        **done.books.rows(),
    }
