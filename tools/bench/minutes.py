"""A load that lasts, measured minute by minute."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tools.bench import books, draining, steady
from tools.bench.beside import InThread
from tools.bench.books import Books
from tools.bench.healthy import Healthy
from tools.bench.outcome import Table
from tools.bench.progress import PATIENCE_SECONDS, say, within
from tools.bench.readings import Mark, Readings
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from tools.bench.steady import Load
from tools.bench.stopwatch import LOOK_EVERY_SECONDS, Stopwatch, Taken
from webhooks.models import Webhook

KILLED = "worker killed"


@dataclass(frozen=True)
class Minute:
    """The events that were committed in it. `end` is in minutes from the start.

    `apart` are those that were under way in the seconds of a kill, `healthy` all others; `arrived`
    counts what came in it, whenever that was committed, and `due` what should have been published.
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
    """Return the percentile; 0 without any, as in a short minute that a kill has all of."""
    return times.ms(percent) if times.seconds else 0.0


class Long:
    """Minutes of `every` seconds each; they are told a minute late, when most has arrived."""

    def __init__(
        self, rig: Rig, receiver: Receiver, webhooks: list[Webhook], asked: Load, every: float
    ) -> None:
        self.rig, self.receiver, self.webhooks = rig, receiver, webhooks
        self.load, self.every = asked, every
        self.files = [rig.folder / f"published-{each}" for each in range(asked.publishers)]
        self.watch = Stopwatch(self.files, receiver.hand_over, asked.count)
        self.done: list[Minute] = []
        # The part of one core that the receiver has used: near 1 it would be the limit.
        self.share = 0.0

    def measure(self, readings: Readings, meanwhile: Sequence[InThread]) -> None:
        """Measure all of it; `meanwhile` begins once the time of the marks has begun."""
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
        while (left := moment - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_EVERY_SECONDS))
            self.watch.read()
        if ended := self.rig.has_ended():
            raise TimeoutError(f"{ended} has ended by itself; its log says why")

    def close(self, number: int, used: dict[str, float], marks: Sequence[Mark]) -> None:
        taken = self.watch.close(number)
        healthy, apart = self.parted(taken, marks)
        begin = number * self.every
        minute = Minute(
            end=round((begin + self.every) / 60, 2),
            due=round(self.load.rate * self.every),
            published=taken.published,
            arrived=taken.arrived,
            healthy=Healthy(healthy, taken.late),
            apart=Healthy(apart, taken.late),
            used=used,
            words=words(marks, begin, begin + self.every),
        )
        self.done.append(minute)
        say(line(minute))

    def parted(self, taken: Taken, marks: Sequence[Mark]) -> tuple[list[float], list[float]]:
        """Seconds of what was not under way in the seconds of a kill, and of what was."""
        start = self.watch.start
        kills = [(start + each.at, start + each.end) for each in marks if each.word == KILLED]
        parts: tuple[list[float], list[float]] = ([], [])
        for way in taken.ways:
            parts[any(way.is_under_way(*kill) for kill in kills)].append(way.seconds)
        for part in parts:
            part.sort()
        return parts

    def books(self) -> Books:
        """Balance the whole load, once all of it is recorded."""
        ids = [webhook.pk for webhook in self.webhooks]
        within(PATIENCE_SECONDS, lambda: not draining.waiting(ids))
        watch = self.watch
        return books.of_counts(watch.published, ids, watch.received, len(watch.repeats))


def words(marks: Sequence[Mark], since: float, until: float) -> list[str]:
    """Name what happened or went on between two moments, each word once."""
    found = [mark.word for mark in sorted(marks) if mark.at < until and mark.end >= since]
    return list(dict.fromkeys(found))


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
