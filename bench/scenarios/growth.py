"""What a long history of finished deliveries does to everything that is asked of the tables.

The same questions at two sizes, the history spread evenly over the last whole weeks and made by
SQL straight into their partitions. No network, no worker. A day is pruned by deleting rows, a week
by dropping tables; how long the first takes follows from how much there is of a day.
"""

import argparse
import shutil
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

from bench import asking, claims, history, load, rows
from bench.asking import Asker
from bench.claims import Claimer, Timed
from bench.measure import in_ms
from bench.outcome import Outcome, Table
from bench.progress import say
from bench.rig import Rig
from deliveries.upkeep import pruning
from devtools.trouble import UsageError

SPARE_BYTES = 3 * 2**30
WAITING = 5_000


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=10_000_000, help="finished deliveries")
    parser.add_argument("--small", type=int, default=10_000, help="to be compared with so many")
    parser.add_argument("--weeks", type=int, default=5, help="over which they are spread")
    parser.add_argument("--webhooks", type=int, default=100, help="to which they went")
    parser.add_argument("--times", type=int, default=50, help="each question is asked")
    parser.add_argument("--explain", action="store_true", help="show PostgreSQL's plans")


@dataclass(frozen=True)
class Size:
    """Seconds by question."""

    rows: int
    seconds: dict[str, list[float]]
    plans: list[str]
    troubles: list[str]


def run(given: argparse.Namespace, rig: Rig) -> Outcome:
    free = shutil.disk_usage(rig.folder).free
    if free < given.rows * history.BYTES_OF_ROW + SPARE_BYTES:
        raise UsageError(f"{given.rows} rows need more room than {rig.folder} has; set TMPDIR")
    sizes = [measure(given, size) for size in (given.small, given.rows)]
    return Outcome(
        table=table(sizes),
        figures=figures(sizes),
        troubles=[trouble for size in sizes for trouble in size.troubles],
        notes=[plan for size in sizes for plan in size.plans],
    )


def measure(given: argparse.Namespace, size: int) -> Size:
    say(f"making {size} finished deliveries")
    rows.forget()
    take_your_time()
    webhooks = load.webhooks(["https://hooks.example.com/in"] * given.webhooks)
    history.fill({webhook.pk: webhook.company_id for webhook in webhooks}, size, given.weeks)
    rows.analyze(vacuum=True)
    oldest = history.oldest(given.weeks)
    asker = Asker(webhooks, size, oldest)
    seconds: dict[str, list[float]] = {}
    plans = []
    for name, question in asker.questions().items():
        say(f"{size} deliveries: {name}")
        seconds[name] = asking.timed(question, given.times)
        if given.explain:
            plans += [f"{size} deliveries, {name}: {each}" for each in asking.plans(question)]
    waiting = rows.wait([webhook.pk for webhook in webhooks], WAITING)
    with claims.engine_s_connection():
        if given.explain:
            plans += [f"{size} deliveries: {each}" for each in claims.plans()]
        timed = claimed(given.times)
    seconds |= {"claim": timed.both, "record": timed.record}
    take_your_time()
    troubles = unbalanced(size + asker.published + waiting)
    for name, days in (("prune a day", 1), ("prune a week", 7)):
        say(f"{size} deliveries: {name}")
        started = time.perf_counter()
        pruning.prune(oldest + timedelta(days=days), tell=say)
        seconds[name] = [time.perf_counter() - started]
    return Size(size, seconds, plans, troubles)


def take_your_time() -> None:
    """For this connection: filling and counting ten million rows takes more than the usual."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")


def claimed(times: int) -> Timed:
    timed, claimer = Timed(), Claimer()
    for _ in range(times):
        claimer.claim(timed)
    return timed


def unbalanced(made: int) -> list[str]:
    found = rows.counted()
    return (
        [] if sum(found.values()) == made else [f"{made} deliveries were made, {found} are there"]
    )


def table(sizes: list[Size]) -> Table:
    small, large = sizes
    lines: list[tuple[object, ...]] = [
        ("p50, milliseconds", f"{small.rows} rows", f"{large.rows} rows", "ratio")
    ]
    for row in figures(sizes)["questions"]:
        lines.append(
            (row["question"], row["small_ms"]["p50"], row["large_ms"]["p50"], row["ratio"])
        )
    return lines


def figures(sizes: list[Size]) -> dict[str, Any]:
    small, large = sizes
    questions = []
    for name in small.seconds:
        before, after = in_ms(small.seconds[name], 2), in_ms(large.seconds[name], 2)
        ratio = round(after["p50"] / max(before["p50"], 0.01), 1)
        questions.append({"question": name, "small_ms": before, "large_ms": after, "ratio": ratio})
    worst = max(row["ratio"] for row in questions if not row["question"].startswith("prune"))
    return {"small": small.rows, "rows": large.rows, "worst_ratio": worst, "questions": questions}
