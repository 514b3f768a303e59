"""Cost of webhooks with waiting deliveries of which none is due, at several numbers of them.

Each has one delivery that is due in an hour. Fresh events are published for the oldest webhook, one
in the middle and the newest; time counts from the commit to the receiver. `oldest_due` is what the
sweep and the probes ask. Idle is the processor time of worker and PostgreSQL while nothing is due.
Judged: an event of the oldest webhook arrives within a second, `oldest_due` takes 5 ms at most.
"""

import argparse
import itertools
import math
import time
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, transaction

from deliveries import publishing
from deliveries.models import Delivery
from deliveries.monitoring import backlog
from tools.bench import load, steady, waiting_webhooks
from tools.bench.measure import percentile
from tools.bench.outcome import Outcome, Table, verdict
from tools.bench.progress import say, within
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from webhooks.models import Webhook

FRESH_SECONDS = 1.0
OLDEST_DUE_MS = 5.0
# After this many lost events of a webhook, no more of them are published.
HOPELESS = 2
QUESTIONS_SECONDS = 10.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--webhooks", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="in all"
    )
    parser.add_argument("--rounds", type=int, default=20, help="fresh events of each webhook")
    parser.add_argument("--patience", type=float, default=10, help="seconds for a fresh event")
    parser.add_argument("--questions", type=int, default=100, help="times oldest_due is asked")
    parser.add_argument("--settle", type=float, default=5, help="seconds until workers are at rest")
    parser.add_argument("--idle", type=float, default=15, help="seconds of rest that are measured")


@dataclass(frozen=True)
class Size:
    """Result at one number of webhooks. `fresh` is seconds by webhook, infinite if late."""

    webhooks: int
    fresh: dict[str, list[float]]
    oldest_due: list[float]
    idle_share: dict[str, float]
    lost: int

    @property
    def oldest_p99(self) -> float:
        return percentile(self.fresh["oldest"], 99)

    def broken(self) -> list[str]:
        oldest_due_p99 = 1000 * percentile(self.oldest_due, 99)
        judged = {
            f"fresh event of the oldest webhook, p99 over {FRESH_SECONDS:g} s": self.oldest_p99
            <= FRESH_SECONDS,
            f"oldest_due, p99 over {OLDEST_DUE_MS:g} ms": oldest_due_p99 <= OLDEST_DUE_MS,
        }
        return [words for words, holds in judged.items() if not holds]

    def row(self) -> dict[str, Any]:
        return {
            "webhooks": self.webhooks,
            "fresh_ms": {name: finite_ms(seconds) for name, seconds in self.fresh.items()},
            "oldest_due_ms": finite_ms(self.oldest_due),
            "idle_share": self.idle_share,
            "lost": self.lost,
            "ok": not self.broken(),
        }


def finite_ms(seconds: list[float]) -> dict[str, Any]:
    """Return percentiles in ms, None if infinite, and counts of finite values and of all."""
    times = {f"p{each}": percentile(seconds, each) for each in (50, 99)}
    ms = {name: None if t == math.inf else round(1000 * t, 2) for name, t in times.items()}
    return {**ms, "came": sum(each < math.inf for each in seconds), "asked": len(seconds)}


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    ids: list[int] = []
    sizes: list[Size] = []
    with Receiver(rig.folder) as receiver:
        for webhooks in sorted(args.webhooks):
            say(f"making {webhooks - len(ids)} webhooks with a delivery that waits")
            ids += waiting_webhooks.make(webhooks - len(ids))
            rig.start()
            sizes.append(measure(args, rig, receiver, ids))
            rig.stop()
    return Outcome(
        table=table(sizes),
        figures={"sizes": [size.row() for size in sizes]},
        troubles=[
            f"{size.webhooks}: {size.lost} deliveries are lost" for size in sizes if size.lost
        ],
        failures=[f"{size.webhooks} webhooks: {each}" for size in sizes for each in size.broken()],
    )


def measure(args: argparse.Namespace, rig: Rig, receiver: Receiver, ids: list[int]) -> Size:
    say(f"{len(ids)} webhooks: nothing is due")
    time.sleep(args.settle)
    meter = rig.meter()
    time.sleep(args.idle)
    used, seconds = meter.read()
    say(f"{len(ids)} webhooks: oldest_due")
    questions = time_queries(args.questions)
    chosen = {"oldest": ids[0], "middle": ids[len(ids) // 2], "newest": ids[-1]}
    fresh = FreshEvents(receiver, chosen, args.patience)
    for number in range(args.rounds):
        say(f"{len(ids)} webhooks: fresh events {number + 1} of {args.rounds}")
        fresh.publish()
    return Size(
        webhooks=len(ids),
        fresh=fresh.seconds,
        oldest_due=questions,
        idle_share={name: round(each / seconds, 4) for name, each in used.items()},
        lost=fresh.lost(),
    )


class FreshEvents:
    """Publisher of single events for some webhooks."""

    def __init__(self, receiver: Receiver, chosen: dict[str, int], patience: float) -> None:
        self.receiver = receiver
        self.patience = patience
        webhooks = Webhook.objects.in_bulk(chosen.values())
        self.webhooks = {name: webhooks[pk] for name, pk in chosen.items()}
        Webhook.objects.filter(pk__in=webhooks).update(url=receiver.url("in"))
        self.before = self.there()
        self.numbers = itertools.count()
        self.seconds: dict[str, list[float]] = {name: [] for name in chosen}

    def publish(self) -> None:
        """Publish an event for each webhook, one per commit, and wait for them."""
        self.receiver.clear()
        commits = {}
        for name, webhook in self.webhooks.items():
            if self.seconds[name].count(math.inf) < HOPELESS:
                number = next(self.numbers)
                with transaction.atomic():
                    publishing.publish([load.news(webhook.company_id, number)])
                commits[name] = number, time.monotonic()
        expected = {number for number, _ in commits.values()}
        within(self.patience, lambda: expected <= self.arrived().keys())
        arrived = self.arrived()
        for name, (number, commit) in commits.items():
            self.seconds[name].append(max(0.0, arrived.get(number, math.inf) - commit))

    def arrived(self) -> dict[int, float]:
        return steady.first_arrivals(self.receiver.arrivals())

    def there(self) -> int:
        return Delivery.objects.filter(webhook__in=self.webhooks.values()).count()

    def lost(self) -> int:
        published = sum(len(seconds) for seconds in self.seconds.values())
        return self.before + published - self.there()


def time_queries(times: int) -> list[float]:
    """Time `oldest_due` up to `times` times, within QUESTIONS_SECONDS; return the seconds.

    A query that ran into PostgreSQL's statement timeout counts as infinite.
    """
    seconds: list[float] = []
    first = time.monotonic()
    while len(seconds) < times and time.monotonic() - first < QUESTIONS_SECONDS:
        started = time.perf_counter()
        try:
            backlog.oldest_due()
        except OperationalError:
            seconds.append(math.inf)
        else:
            seconds.append(time.perf_counter() - started)
    return seconds


def table(sizes: list[Size]) -> Table:
    lines: list[tuple[object, ...]] = [
        (
            "webhooks",
            *(f"{name} p50 / p99 ms" for name in ("oldest", "middle", "newest")),
            "oldest_due p99 ms",
            "worker idle",
            "postgres idle",
            "",
        )
    ]
    for size in sizes:
        row = size.row()
        shares = [f"{100 * size.idle_share[name]:.1f} %" for name in ("worker", "postgres")]
        fresh = [
            f"{each['p50'] or 'never'} / {each['p99'] or 'never'}"
            for each in row["fresh_ms"].values()
        ]
        due = row["oldest_due_ms"]["p99"] or "never"
        lines.append((size.webhooks, *fresh, due, *shares, verdict(not size.broken())))
    return lines
