"""Cost of the idle service: memory, processor time, transactions.

Web and worker of the Procfile after some requests and deliveries, so that what they use is loaded.
Memory is the proportional set size of the process trees of the two. Processor time is that of all
processes, PostgreSQL and the broker among them. Judged: 260 MB and 0.7 % of a core.
"""

import argparse
import http.client
import time
from dataclasses import dataclass
from typing import Any

from django.db import connection

from tools.bench import draining, load, memory
from tools.bench.memory import Memory
from tools.bench.outcome import Outcome, Table, verdict
from tools.bench.progress import say, until
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from tools.faults.ports import free_port

MOST_MB = 260.0
MOST_PERCENT = 0.7
KINDS = ("web", "worker")
REQUESTS = 20
DELIVERIES = 1_000


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=60, help="that are measured")
    # Loops started for the deliveries end after a minute (deliveries.engine.signs).
    parser.add_argument("--settle", type=float, default=75, help="seconds of rest before them")


@dataclass(frozen=True)
class Idle:
    """Idle costs. `percent` is of one core, by process tree."""

    memory: dict[str, Memory]
    percent: dict[str, float]
    transactions_per_s: float

    @property
    def pss_mb(self) -> float:
        return round(sum(each.pss_mb for each in self.memory.values()), 1)

    @property
    def all_percent(self) -> float:
        return round(sum(self.percent.values()), 2)

    def broken(self) -> list[str]:
        judged = {
            f"{self.pss_mb} MB, at most {MOST_MB:g}": self.pss_mb <= MOST_MB,
            f"{self.all_percent} % of a core, at most {MOST_PERCENT}": self.all_percent
            <= MOST_PERCENT,
        }
        return [words for words, holds in judged.items() if not holds]

    def row(self) -> dict[str, Any]:
        return {
            "pss_mb": self.pss_mb,
            "percent_of_a_core": self.all_percent,
            "transactions_per_s": self.transactions_per_s,
            "memory": {kind: each.row() for kind, each in self.memory.items()},
            "percent": self.percent,
            "ok": not self.broken(),
        }


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    port = free_port()
    rig.service.environment["PORT"] = str(port)
    with Receiver(rig.folder) as receiver:
        rig.start()
        say("starting web")
        rig.service.start("web")
        until(lambda: answers(port), "web does not answer")
        for _ in range(REQUESTS):
            answers(port)
        draining.drain(rig, receiver, load.webhooks([receiver.url("in")]), DELIVERIES)
        say(f"letting it rest for {args.settle:g} seconds, then measuring for {args.seconds:g}")
        time.sleep(args.settle)
        idle = measure(rig, args.seconds)
        rig.service.stop("web")
    return Outcome(table=table(idle), figures=idle.row(), failures=idle.broken())


def answers(port: int) -> bool:
    """Return True if /readyz answers 200, which includes the database and the broker."""
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        asking.request("GET", "/readyz")
        return asking.getresponse().status == 200
    except OSError:
        return False
    finally:
        asking.close()


def measure(rig: Rig, seconds: float) -> Idle:
    roots = {kind: rig.service.processes[kind].pid for kind in KINDS}
    meter = rig.meter(web=roots["web"])
    before = transactions()
    time.sleep(seconds)
    after = transactions()
    used, clock = meter.read()
    return Idle(
        memory={kind: memory.of_tree(root) for kind, root in roots.items()},
        percent={name: round(100 * each / clock, 2) for name, each in used.items()},
        # The second query is itself a transaction.
        transactions_per_s=round((after - before - 1) / clock, 2),
    )


def transactions() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database")
        return int(cursor.fetchone()[0])


def table(idle: Idle) -> Table:
    lines: list[tuple[object, ...]] = [("", "PSS MB", *PARTS, "by process", "% of a core", "")]
    for kind, percent in idle.percent.items():
        usage = idle.memory.get(kind)
        cells: list[object] = [""] * (2 + len(PARTS))
        if usage:
            parts = [usage.parts.get(part, 0) for part in PARTS]
            cells = [usage.pss_mb, *parts, " + ".join(f"{each:.0f}" for each in usage.each)]
        lines.append((kind, *cells, percent, ""))
    blank = [""] * (1 + len(PARTS))
    lines.append(("all", idle.pss_mb, *blank, idle.all_percent, verdict(not idle.broken())))
    lines.append(("transactions/s", idle.transactions_per_s, *blank, "", ""))
    return lines


PARTS = ("objects", "libraries", "other")
