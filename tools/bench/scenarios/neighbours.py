"""Effect of bad neighbours on a healthy company's deliveries.

The company gets events at a steady rate, alone at first, then beside each kind of neighbour, whose
deliveries appear all at once just before. Time counts from the commit to the receiver. Judged: with
neighbours the p99 is at most three times as long as alone, and at most 100 ms. Names need a name
server of ours for the worker alone: where the machine does not let us, those rows are left out.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from tools.bench import draining, healthy, names
from tools.bench.bad_receivers import KINDS, NAMELESS, BadReceivers, Kind, Neighbours
from tools.bench.healthy import Healthy, HealthyCompany
from tools.bench.names import NameServer, name_server
from tools.bench.outcome import Outcome, Table, verdict
from tools.bench.progress import say, until
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from tools.bench.steady import Load

ALL = "all"
TIMES_AS_LONG, LONGEST_MS = 3.0, 100.0
HEALTHY_NAMES = 12
# DNS entries that a worker has cached should have expired when the neighbours come.
NAMES_ARE_OLD_AFTER_SECONDS = 32.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only", nargs="+", choices=[*KINDS, ALL], default=[*KINDS, ALL], help="neighbours"
    )
    parser.add_argument("--rate", type=float, default=40, help="events a second when healthy")
    parser.add_argument("--names-rate", type=float, default=12, help="the same, beside dead names")
    parser.add_argument("--seconds", type=float, default=15, help="that are measured, each time")
    parser.add_argument("--warm-up", type=float, default=1, help="seconds of load before them")
    parser.add_argument("--scale", type=float, default=1, help="of the neighbours, to have fewer")


@dataclass(frozen=True)
class NeighbourResult:
    """Latency of the healthy company with neighbours of one kind, and alone at the same rate."""

    name: str
    words: str
    alone: Healthy
    beside: Healthy

    @property
    def at_most_ms(self) -> float:
        return round(min(TIMES_AS_LONG * (self.alone.ms(99) or 0.0), LONGEST_MS), 1)

    @property
    def holds(self) -> bool:
        p99 = self.beside.ms(99)
        return p99 is not None and p99 <= self.at_most_ms

    def row(self) -> dict[str, Any]:
        return {
            "neighbours": self.name,
            "words": self.words,
            "alone": self.alone.row(),
            "beside": self.beside.row(),
            "at_most_ms": self.at_most_ms,
            "ok": self.holds,
        }


class Comparison:
    """Comparison of a healthy company's latency alone and with neighbours."""

    def __init__(self, rig: Rig, company: HealthyCompany) -> None:
        self.rig = rig
        self.company = company
        self.began = time.monotonic()
        self.troubles: list[str] = []
        say(f"a healthy company alone, {company.load.rate:g} events/s")
        self.alone = company.measure()
        company.settle()

    def beside(self, name: str, kinds: Sequence[Kind]) -> NeighbourResult:
        """Measure again with neighbours of these kinds, and remove them afterwards."""
        with BadReceivers(self.rig) as receivers:
            crowd = [Neighbours(receivers, kind) for kind in kinds]

            def come() -> None:
                with transaction.atomic():
                    for each in crowd:
                        each.publish()
                draining.ring()

            words = kinds[0].words if len(kinds) == 1 else "all of them at once"
            say(f"a healthy company beside: {words}")
            measurement = self.company.measure(come)
            draining.retire([webhook for each in crowd for webhook in each.webhooks])
            until(lambda: not receivers.receiver.pending(), "requests to neighbours did not end")
            self.troubles += [word for each in crowd for word in each.troubles()]
        self.company.settle()
        result = NeighbourResult(name, words, self.alone, measurement)
        p99 = in_time(measurement.ms(99))
        say(f"p99 {p99} ms, at most {result.at_most_ms}: {verdict(result.holds)}")
        return result

    def close(self) -> list[str]:
        """Balance the books; return their troubles."""
        return [*self.troubles, *self.company.books().troubles()]


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    kinds = {name: kind.scaled(args.scale) for name, kind in KINDS.items()}
    notes: list[str] = []
    needs_names = bool({NAMELESS, ALL} & set(args.only))
    with name_server(needs_names, rig.folder, notes) as server, Receiver(rig.folder) as receiver:
        rig.start(worker_through=server.through if server else ())
        results, troubles = [], []
        if server and NAMELESS in args.only:
            # Run before all kinds at once, whose lookups continue for a while after their end.
            results, troubles = beside_dead_names(args, rig, server, kinds[NAMELESS])
        others, more = beside_each(args, rig, receiver, kinds, bool(server))
        results, troubles = [*results, *others], [*troubles, *more]
    return Outcome(
        table=table(results),
        figures={"rows": [each.row() for each in results]},
        troubles=troubles,
        failures=[
            f"p99 beside {each.name}, at most {each.at_most_ms} ms"
            for each in results
            if not each.holds
        ],
        notes=notes,
    )


def beside_each(
    args: argparse.Namespace,
    rig: Rig,
    receiver: Receiver,
    kinds: dict[str, Kind],
    with_names: bool,
) -> tuple[list[NeighbourResult], list[str]]:
    """Measure all kinds but dead names; return results and troubles of the books."""
    groups = {name: [kind] for name, kind in kinds.items() if name != NAMELESS}
    groups[ALL] = [kind for name, kind in kinds.items() if with_names or name != NAMELESS]
    chosen = {name: group for name, group in groups.items() if name in args.only}
    if not chosen:
        return [], []
    load = Load(args.rate, args.seconds, publishers=1, warm_up=args.warm_up)
    comparison = Comparison(rig, HealthyCompany(rig, receiver, [receiver.url("in")], load))
    results = [comparison.beside(name, group) for name, group in chosen.items()]
    return results, comparison.close()


def beside_dead_names(
    args: argparse.Namespace, rig: Rig, server: NameServer, kind: Kind
) -> tuple[list[NeighbourResult], list[str]]:
    """Measure dead names, with healthy receivers whose names need a lookup from time to time."""
    load = Load(args.names_rate, args.seconds, publishers=1, warm_up=args.warm_up)
    with Receiver(rig.folder, listen=f"{server.address}:{names.PORT}") as receiver:
        urls = [receiver.url("in", names.living(each)) for each in range(HEALTHY_NAMES)]
        comparison = Comparison(rig, HealthyCompany(rig, receiver, urls, load))
        say("waiting until what the worker has learnt of the names is old")
        time.sleep(max(0.0, comparison.began + NAMES_ARE_OLD_AFTER_SECONDS - time.monotonic()))
        result = comparison.beside(NAMELESS, [kind])
        return [result], comparison.close()


def table(results: Sequence[NeighbourResult]) -> Table:
    lines: list[tuple[object, ...]] = [
        ("healthy company beside", "alone p99 ms", "p50 ms", "p99 ms", "at most", "arrived", "")
    ]
    for each in results:
        due = len(each.beside.seconds)
        lines.append(
            (
                each.words,
                each.alone.ms(99),
                in_time(each.beside.ms(50)),
                in_time(each.beside.ms(99)),
                each.at_most_ms,
                f"{each.beside.arrived} of {due}",
                verdict(each.holds),
            )
        )
    return lines


def in_time(ms: float | None) -> str:
    return f"over {1000 * healthy.PATIENCE_SECONDS:.0f}" if ms is None else str(ms)
