"""Cost of a transaction that stays open under a steady load.

Part of the time is quiet; then a transaction is open as long, with a number and a snapshot of its
own, so that nothing which ends meanwhile can be cleared away. Judged by the medians of their
minutes: with it the rate, the p99 from commit to receiver and the processor time are within a tenth
of the quiet.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tools.bench import load
from tools.bench.crew import crew
from tools.bench.minutes import Long, Minute
from tools.bench.outcome import Outcome, Table, verdict
from tools.bench.progress import say
from tools.bench.readings import Readings
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from tools.bench.scenarios.hour import add_load_options, requested_load
from tools.bench.troubles import OpenTransaction, Troubles

WITHIN = 0.1
# Compared figures, and whether they are judged; higher is worse, except for the rate.
RATE = "arrived"
COMPARED = {
    RATE: True,
    "p50_ms": False,
    "p99_ms": True,
    "p999_ms": False,
    "worker_cpu_s": True,
    "postgres_cpu_s": True,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=5, help="of each part")
    parser.add_argument("--turns", type=int, default=1, help="that the two parts take")
    add_load_options(parser, rate=5000, batch=10)


@dataclass(frozen=True)
class Compared:
    """Medians of quiet minutes, and of those with the open transaction."""

    what: str
    quiet: float | None
    beside: float | None
    judged: bool

    @property
    def ratio(self) -> float | None:
        """Return the ratio to quiet minutes; None if either is unknown or 0."""
        return round(self.beside / self.quiet, 3) if self.beside and self.quiet else None

    @property
    def holds(self) -> bool:
        if not self.judged:
            return True
        if self.ratio is None:
            return False
        return self.ratio >= 1 - WITHIN if self.what == RATE else self.ratio <= 1 + WITHIN

    def row(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "quiet": self.quiet,
            "beside": self.beside,
            "ratio": self.ratio,
            "judged": self.judged,
            "ok": self.holds,
        }


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    with Receiver(rig.folder, brief=True) as receiver, crew(rig) as all_of_them:
        webhooks = load.webhooks([receiver.url(f"{each}") for each in range(args.webhooks)])
        parts = 2 * args.turns
        long = Long(rig, receiver, webhooks, requested_load(args, parts * args.minutes), args.every)
        readings = Readings(all_of_them)
        say(f"{args.rate:g} events a second, {parts} parts of {args.minutes:g} minutes")
        seconds = 60 * args.minutes
        steps = [
            step
            for part in range(1, parts, 2)
            for step in OpenTransaction(readings).steps(part * seconds, (part + 1) * seconds)
        ]
        long.measure(readings, [troubles := Troubles(steps, readings)])
        books = long.books()
    compared = compare(long.finished, args.minutes)
    missing = books.published - books.received
    return Outcome(
        table=table(compared),
        figures={
            "events_per_s": args.rate,
            "batch": args.batch,
            "compared": [each.row() for each in compared],
            "minutes": [each.row() for each in long.finished],
            "receiver_share": long.share,
            **books.rows(),
        },
        troubles=[*books.troubles(), *troubles.troubles],
        failures=[
            *(f"{each.what}: {each.ratio} times the quiet" for each in compared if not each.holds),
            *([f"{missing} events have not arrived"] if missing else []),
        ],
    )


def compare(finished: Sequence[Minute], minutes_of_part: float) -> list[Compared]:
    """Split the minutes into alternating parts, quiet first, and compare their medians."""
    parts: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for each in finished:
        # A minute may end with its part, so look just before its end.
        parts[int((each.end - 1e-6) // minutes_of_part) % 2].append(each.row())
    return [
        Compared(what, middle(parts[0], what), middle(parts[1], what), judged)
        for what, judged in COMPARED.items()
    ]


def middle(rows: Sequence[dict[str, Any]], what: str) -> float | None:
    """Return the median; None if a minute has no figure because its events did not arrive."""
    values = [row[what] for row in rows]
    return None if None in values or not values else round(median(values), 2)


def table(compared: Sequence[Compared]) -> Table:
    rows: list[tuple[object, ...]] = [("a minute", "quiet", "transaction open", "ratio", "")]
    for each in compared:
        word = verdict(each.holds) if each.judged else ""
        rows.append((each.what, each.quiet, each.beside, each.ratio, word))
    return rows
