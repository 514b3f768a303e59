"""Long load, measured minute by minute."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tools.bench import books, draining, steady
from tools.bench.background import BackgroundThread
from tools.bench.books import Books
from tools.bench.healthy import Healthy
from tools.bench.outcome import Table
from tools.bench.progress import PATIENCE_SECONDS, say, within
from tools.bench.readings import Mark, Readings
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from tools.bench.steady import Load
from tools.bench.stopwatch import LOOK_EVERY_SECONDS, MinuteTimes, Stopwatch
from webhooks.models import Webhook

KILLED = "worker killed"


@dataclass(frozen=True)
class Minute:
    """Events that were committed within a minute. `end` is in minutes from the start.

    `apart` are those in flight during a kill, `healthy` all others; `arrived` counts arrivals
    within the minute, whenever committed, and `due` the events that should have been published.
    """

    end: float
    due: int
    published: int
    arrived: int
    healthy: Healthy
    apart: Healthy
    used: dict[str, float]
    words: list[str]

    def row(self) -> dict[str, Any]:
        return {
            "minute": self.end,
            "p50_ms": ms(self.healthy, 50),
            "p99_ms": ms(self.healthy, 99),
            "p999_ms": ms(self.healthy, 99.9),
            "longest_ms": ms(self.healthy, 100),
            "latest_commit_ms": round(1000 * self.healthy.late, 1),
            "due": self.due,
            "published": self.published,
            "arrived": self.arrived,
            "apart": len(self.apart.seconds),
            "apart_longest_ms": ms(self.apart, 100),
            **self.used,
            "words": self.words,
        }


def ms(times: Healthy, percent: float) -> float | None:
    """Return the percentile; 0 without events, as in a short minute taken up by a kill."""
    return times.ms(percent) if times.seconds else 0.0


class Long:
    """Measurement in minutes of `every` seconds; each is reported one late, once most arrived."""

    def __init__(
        self, rig: Rig, receiver: Receiver, webhooks: list[Webhook], load_plan: Load, every: float
    ) -> None:
        self.rig, self.receiver, self.webhooks = rig, receiver, webhooks
        self.load, self.every = load_plan, every
        self.files = [rig.folder / f"published-{each}" for each in range(load_plan.publishers)]
        self.watch = Stopwatch(self.files, receiver.hand_over, load_plan.count)
        self.finished: list[Minute] = []
        # Share of one core that the receiver has used: near 1 it would be the bottleneck.
        self.share = 0.0

    def measure(self, readings: Readings, meanwhile: Sequence[BackgroundThread]) -> None:
        """Measure the whole load; start `meanwhile` once the clock of the marks runs."""
        used: list[dict[str, float]] = []
        self.receiver.clear()
        with steady.publishers(self.rig, self.load.publishers) as processes:
            companies = [webhook.company_id for webhook in self.webhooks]
            first = steady.start(processes, self.load, companies, self.files)
            self.watch.begin(first + self.load.warm_up, self.every)
            readings.begin(self.watch.start)
            with ExitStack() as stack:
                for each in meanwhile:
                    stack.enter_context(each)
                self.look_until(self.watch.start)
                readings.read()
                for number in range(round(self.load.seconds / self.every)):
                    self.look_until(self.watch.start + (number + 1) * self.every)
                    used.append(readings.read())
                    if number:
                        self.close(number - 1, used[number - 1], readings.marks)
            self.share = self.receiver.share()

            def all_are_there() -> bool:
                ended = all(each.poll() is not None for each in processes)
                self.watch.read()
                return ended and self.watch.received >= self.watch.published

            within(PATIENCE_SECONDS, all_are_there)
        self.close(len(used) - 1, used[-1], readings.marks)

    def look_until(self, moment: float) -> None:
        while (remaining := moment - time.monotonic()) > 0:
            time.sleep(min(remaining, LOOK_EVERY_SECONDS))
            self.watch.read()
        if ended := self.rig.has_ended():
            raise TimeoutError(f"{ended} has ended by itself; its log says why")

    def close(self, number: int, used: dict[str, float], marks: Sequence[Mark]) -> None:
        closed = self.watch.close(number)
        healthy, apart = self.parted(closed, marks)
        begin = number * self.every
        minute = Minute(
            end=round((begin + self.every) / 60, 2),
            due=round(self.load.rate * self.every),
            published=closed.published,
            arrived=closed.arrived,
            healthy=Healthy(healthy, closed.late),
            apart=Healthy(apart, closed.late),
            used=used,
            words=words(marks, begin, begin + self.every),
        )
        self.finished.append(minute)
        say(line(minute))

    def parted(self, closed: MinuteTimes, marks: Sequence[Mark]) -> tuple[list[float], list[float]]:
        """Split latencies into those of events not in flight during a kill, and those in flight."""
        start = self.watch.start
        kills = [(start + each.at, start + each.end) for each in marks if each.word == KILLED]
        parts: tuple[list[float], list[float]] = ([], [])
        for way in closed.ways:
            parts[any(way.is_under_way(*kill) for kill in kills)].append(way.seconds)
        for part in parts:
            part.sort()
        return parts

    def books(self) -> Books:
        """Balance the whole load once all of it is recorded."""
        ids = [webhook.pk for webhook in self.webhooks]
        within(PATIENCE_SECONDS, lambda: not draining.waiting(ids))
        watch = self.watch
        return books.of_counts(watch.published, ids, watch.received, len(watch.repeats))


def words(marks: Sequence[Mark], since: float, until: float) -> list[str]:
    """Return the words of marks between two moments, each once."""
    names = [mark.word for mark in sorted(marks) if mark.at < until and mark.end >= since]
    return list(dict.fromkeys(names))


def line(minute: Minute) -> str:
    row = minute.row()
    times = ", ".join(f"{name} {row[f'{key}_ms']}" for name, key in TIMES.items())
    return (
        f"minute {minute.end:g}: {times} ms; {minute.published:,} published, {minute.arrived:,}"
        f" arrived, {minute.due:,} due; {', '.join(minute.words) or 'quiet'}"
    )


TIMES = {"p50": "p50", "p99": "p99", "p99.9": "p999"}


def table(minutes: Sequence[Minute]) -> Table:
    head = ("minute", *TIMES, "ms at most", "published", "arrived", "apart", *USED.values(), "")
    rows: list[tuple[object, ...]] = [head]
    for each in minutes:
        row = each.row()
        times = [row[f"{key}_ms"] for key in TIMES.values()]
        counts = (row["longest_ms"], each.published, each.arrived, row["apart"])
        used = [f"{row[key]:,.0f}" for key in USED]
        rows.append((f"{each.end:g}", *times, *counts, *used, ", ".join(each.words)))
    return rows


USED = {
    "worker_cpu_s": "worker CPU s",
    "postgres_cpu_s": "PostgreSQL",
    "worker_mb": "worker MB",
    "postgres_mb": "PostgreSQL",
    "wal_mb": "WAL MB",
    "dead_rows": "dead rows",
}
