"""Latency from commit to receiver during an hour in which everything goes wrong.

A healthy company gets events at a rate, one commit each. Bad neighbours of all kinds come and stay,
a worker is killed, all are restarted one by one as in a deploy, a transaction stays open,
checkpoints and autovacuum run. Judged, minute by minute: p99.9 is at most 100 ms, except for events
in flight between a kill and the heartbeat that notices the expired lease; nothing is lost, nothing
is repeated except after a kill, and rate and memory stay level.
"""

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

from tools.bench import load, minutes
from tools.bench.bad_receivers import KINDS, NAMELESS, BadReceivers, Neighbours
from tools.bench.books import Books
from tools.bench.crew import Crew, crew
from tools.bench.minutes import KILLED, Long, Minute
from tools.bench.names import name_server
from tools.bench.outcome import Outcome
from tools.bench.progress import say
from tools.bench.readings import Mark, Readings
from tools.bench.receiver import Receiver
from tools.bench.rig import Rig
from tools.bench.steady import Load
from tools.bench.troubles import (
    NEIGHBOURS,
    Crowd,
    OpenTransaction,
    Step,
    Troubles,
    checkpoint,
    deploy,
    kill,
)

LONGEST_MS = 100.0
# Relative tolerance of rate and memory.
LEVEL = 0.1
# Requests that a killed worker had not recorded are repeated soon after its lease has expired.
REPEATS_WITHIN_SECONDS = 10.0
# Times of the troubles, as shares of the whole. A late restart of the workers would hide growth of
# their memory.
COME, KILL, DEPLOY, OPEN, CLOSE = 0.1, 0.2, 0.35, 0.45, 0.7
CHECKPOINTS = (0.25, 0.5, 0.85)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=5, help="that are measured")
    parser.add_argument("--only", nargs="*", choices=KINDS, default=[*KINDS], help="neighbours")
    parser.add_argument("--scale", type=float, default=1, help="of the neighbours, to have fewer")
    add_load_options(parser, rate=1000, batch=1)


def add_load_options(parser: argparse.ArgumentParser, rate: float, batch: int) -> None:
    parser.add_argument("--rate", type=float, default=rate, help="events a second")
    parser.add_argument("--batch", type=int, default=batch, help="events in each commit")
    parser.add_argument("--publishers", type=int, default=4, help="processes that publish")
    parser.add_argument("--webhooks", type=int, default=10, help="that take turns")
    parser.add_argument("--warm-up", type=float, default=3, help="seconds of load before")
    parser.add_argument("--every", type=float, default=60, help="seconds that a minute has")


def requested_load(args: argparse.Namespace, total_minutes: float) -> Load:
    seconds = 60 * total_minutes
    return Load(args.rate, seconds, args.publishers, args.warm_up, args.batch)


@dataclass(frozen=True)
class Hour:
    """Measurement and its verdict."""

    minutes: Sequence[Minute]
    marks: Sequence[Mark]
    # Repeated arrivals, in seconds from the start.
    repeats: Sequence[float]
    books: Books

    def broken(self) -> list[str]:
        strange = [at for at in self.repeats if not self.is_behind_kill(at)]
        missing = self.books.published - self.books.received
        return [
            *(word for each in self.minutes for word in broken(each)),
            *self.grown(),
            *([f"{missing} events have not arrived"] if missing else []),
            *([f"{len(strange)} repeats that are not behind a kill"] if strange else []),
        ]

    def is_behind_kill(self, at: float) -> bool:
        return any(
            mark.at <= at <= mark.end + REPEATS_WITHIN_SECONDS
            for mark in self.marks
            if mark.word == KILLED
        )

    def grown(self) -> list[str]:
        """Report processes whose memory has grown."""
        return [
            f"memory of {words} went from {before:.0f} to {after:.0f} MB"
            for words, (before, after) in self.memory().items()
            if after > (1 + LEVEL) * before
        ]

    def memory(self) -> dict[str, tuple[float, float]]:
        """Return the megabytes in the first tenth of the time with neighbours, and in the last."""
        count = len(self.minutes)
        tenth = max(1, count // 10)
        early = min(count - 1, round(COME * count) + 1)
        first, last = self.minutes[early : early + tenth], self.minutes[-tenth:]
        return {
            words: (
                median(each.used[key] for each in first),
                median(each.used[key] for each in last),
            )
            for key, words in {"worker_mb": "the workers", "postgres_mb": "PostgreSQL"}.items()
        }

    def figures(self) -> dict[str, Any]:
        return {
            "longest_ms": LONGEST_MS,
            "minutes": [each.row() | {"ok": not broken(each)} for each in self.minutes],
            "marks": [mark._asdict() for mark in self.marks],
            "memory_mb": self.memory(),
            "level": not self.grown(),
            "ok": not self.broken(),
            **self.books.rows(),
        }


def broken(minute: Minute) -> list[str]:
    """Report the goals that a minute misses."""
    p999 = minutes.ms(minute.healthy, 99.9)
    words = []
    if p999 is None or p999 > LONGEST_MS:
        words.append(
            f"minute {minute.end:g}: p99.9 {p999 or 'over a minute'}, at most {LONGEST_MS} ms"
        )
    least = (1 - LEVEL) * minute.due
    for what, count in {"published": minute.published, "arrived": minute.arrived}.items():
        if count < least:
            words.append(f"minute {minute.end:g}: {count} {what} of {minute.due} that were due")
    return words


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    notes: list[str] = []
    with ExitStack() as stack:
        server = stack.enter_context(name_server(NAMELESS in args.only, rig.folder, notes))
        receiver = stack.enter_context(Receiver(rig.folder, brief=True))
        receivers = stack.enter_context(BadReceivers(rig))
        all_of_them = stack.enter_context(crew(rig, server.through if server else ()))
        kinds = [name for name in args.only if server or name != NAMELESS]
        crowd = [Neighbours(receivers, KINDS[name].scaled(args.scale)) for name in kinds]
        webhooks = load.webhooks([receiver.url(f"{each}") for each in range(args.webhooks)])
        long = Long(rig, receiver, webhooks, requested_load(args, args.minutes), args.every)
        readings = Readings(all_of_them)
        say(f"{args.rate:g} events a second for {args.minutes:g} minutes")
        meanwhile = [
            Troubles(steps, readings)
            for steps in (
                for_crew(args.minutes, readings, all_of_them),
                for_database(args.minutes, readings),
                for_crowd(long, readings, Crowd(receivers, crowd)),
            )
        ]
        long.measure(readings, meanwhile)
        books = long.books()
        voided = [word for each in crowd for word in each.troubles()]
        voided += [word for each in meanwhile for word in each.troubles]
    repeats = [at - long.watch.start for at in long.watch.repeats]
    hour = Hour(long.finished, sorted(readings.marks), repeats, books)
    return Outcome(
        table=minutes.table(hour.minutes),
        figures={"events_per_s": args.rate, "receiver_share": long.share, **hour.figures()},
        troubles=[*books.troubles(), *voided],
        failures=hour.broken(),
        notes=notes,
    )


def for_crew(total: float, readings: Readings, all_of_them: Crew) -> list[Step]:
    return [
        Step(60 * total * KILL, lambda: kill(all_of_them, readings)),
        Step(60 * total * DEPLOY, lambda: deploy(all_of_them, readings)),
    ]


def for_database(total: float, readings: Readings) -> list[Step]:
    return [
        *OpenTransaction(readings).steps(60 * total * OPEN, 60 * total * CLOSE),
        *(Step(60 * total * share, checkpoint) for share in CHECKPOINTS),
    ]


def for_crowd(long: Long, readings: Readings, crowd: Crowd) -> list[Step]:
    """Let the neighbours come, and top up their deliveries every minute."""
    seconds = long.load.seconds

    def come() -> None:
        readings.mark(NEIGHBOURS, readings.now(), seconds - readings.now())
        crowd.come()

    first, steps = COME * seconds, [Step(COME * seconds, come)]
    for minute in range(1, 1 + int((seconds - first) / long.every)):
        steps.append(Step(first + minute * long.every, crowd.go_on))
    return steps
