"""Steady load, and the latency of each event to its receiver.

An open loop: time counts from an event's due time, even if its publisher was late.
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.bench import bodies, books, draining
from tools.bench.books import Books
from tools.bench.plan import Plan
from tools.bench.progress import until, until_count
from tools.bench.receiver import Arrival, Receiver
from tools.bench.rig import Rig
from tools.dev.bootstrap import ROOT
from tools.dev.processes import stop, tether
from webhooks.models import Webhook

HEAD_START_SECONDS = 0.5
LATE_SECONDS = 0.5


@dataclass(frozen=True)
class Load:
    """Load of `rate` events a second for `seconds`, by `publishers` processes, `batch` per commit.

    Events due in the `warm_up` seconds before, in which loops and connections start, are published
    and balanced but not timed.
    """

    rate: float
    seconds: float
    publishers: int = 2
    warm_up: float = 0
    batch: int = 1

    @property
    def early(self) -> int:
        return int(self.rate * self.warm_up)

    @property
    def count(self) -> int:
        return self.early + int(self.rate * self.seconds)


@dataclass(frozen=True)
class Steady:
    """Latencies in seconds of answered events, from their due time and from their commit.

    `late` is the delay of the latest commit.
    """

    from_due: list[float]
    from_commit: list[float]
    late: float
    cpu_s_per_1000: dict[str, float]
    receiver_share: float
    books: Books


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=20, help="that are measured, each time")
    parser.add_argument("--warm-up", type=float, default=3, help="seconds of load before them")
    parser.add_argument("--publishers", type=int, default=2, help="processes that publish")


def requested_load(args: argparse.Namespace, rate: float) -> Load:
    return Load(rate, args.seconds, args.publishers, args.warm_up)


def lateness(result: Steady) -> list[str]:
    """Return a note if the publishers, and not the service, were the bottleneck."""
    if result.late < LATE_SECONDS:
        return []
    return [
        f"Publishers fell {result.late:.1f} s behind their schedule: this machine commits no"
        " faster, and time from the schedule is mostly theirs."
    ]


def run(rig: Rig, receiver: Receiver, webhooks: list[Webhook], load: Load) -> Steady:
    """Publish to the webhooks in turn, and wait until all that answer have their events."""
    loud = [webhook for webhook in webhooks if not is_silent(webhook)]
    due = sum(not is_silent(webhooks[number % len(webhooks)]) for number in range(load.count))
    what = f"{load.rate:g} events/s, {len(webhooks) - len(loud)} of {len(webhooks)} silent"
    receiver.clear()
    with publishers(rig, load.publishers) as processes:
        meter = rig.meter()
        start(processes, load, [webhook.company_id for webhook in webhooks])
        until_count(receiver.count, due, what)
        published = [row for process in processes for row in json.loads(process.stdout.readline())]
    ids = [webhook.pk for webhook in loud]
    until(lambda: not draining.waiting(ids), "the last deliveries were not recorded")
    used, _ = meter.read()
    share = receiver.share()
    arrivals = receiver.arrivals()
    arrived = first_arrivals(arrivals)
    warm = [row for row in published if row[0] >= load.early]
    answered = [row for row in warm if row[0] in arrived]
    return Steady(
        from_due=[arrived[number] - due for number, due, _ in answered],
        # An event can arrive before its publisher has read the clock.
        from_commit=[max(0.0, arrived[number] - commit) for number, _, commit in answered],
        late=max(commit - due for _, due, commit in warm),
        cpu_s_per_1000=draining.per_1000(used, load.count),
        receiver_share=share,
        books=books.balance(len(published), [webhook.pk for webhook in webhooks], arrivals),
    )


def first_arrivals(arrivals: list[Arrival]) -> dict[int, float]:
    """Return the time of the first answered request of each event, by number."""
    arrived: dict[int, float] = {}
    for arrival in arrivals:
        if arrival.answered:
            arrived.setdefault(bodies.number(arrival.body), arrival.at)
    return arrived


def is_silent(webhook: Webhook) -> bool:
    return "/silent" in webhook.url


@contextmanager
def publishers(rig: Rig, how_many: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Start processes of tools/bench/publisher.py that wait for their plan."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tools.bench.publisher"],
            cwd=ROOT,
            env=rig.service.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=tether(signal.SIGKILL),
        )
        for _ in range(how_many)
    ]
    try:
        for process in processes:
            process.stdout.readline()
        yield processes
    finally:
        for process in processes:
            with process:
                stop(process, [(signal.SIGTERM, 2)])


def start(
    processes: list[subprocess.Popen[str]],
    load: Load,
    company_ids: list[int],
    files: Sequence[Path] = (),
) -> float:
    """Give each process its plan; return the time of the first event, on the monotonic clock.

    With `files`, one per process, they log published events there.
    """
    first = time.monotonic() + HEAD_START_SECONDS
    for share, process in enumerate(processes):
        plan = Plan(
            load.rate,
            load.count,
            first,
            company_ids,
            share,
            len(processes),
            load.batch,
            str(files[share]) if files else "",
        )
        process.stdin.write(f"{plan.text()}\n")
        process.stdin.flush()
    return first
