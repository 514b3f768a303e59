"""Cost of slow receivers, and whether small ones are spared.

First a backlog to receivers that answer after so many milliseconds, for one webhook and for many,
each on a host of its own. Then a backlog to a server of a few workers, each busy with a request for
a while, where what finds none free waits in its queue. Judged: many webhooks keep two thirds of
their rate, one keeps so much, and a small server works at its capacity without drowning.
"""

import argparse
from typing import Any

from tools.bench import small_receivers
from tools.bench.outcome import Outcome, Table, verdict
from tools.bench.pace import Pace, measure
from tools.bench.progress import say
from tools.bench.receiver import EVERYWHERE, Receiver
from tools.bench.rig import Rig
from tools.bench.small_receivers import SmallReceiverResult

# Required share of the rate of many webhooks that answer at once.
SHARE_OF_RATE = 2 / 3
# Deliveries a second for one webhook, by its milliseconds.
ONE_WEBHOOK = {50: 5_000, 200: 2_000}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--waiting", type=int, default=60_000, help="deliveries, each time")
    parser.add_argument("--seconds", type=float, default=20, help="at most, each time")
    parser.add_argument(
        "--ms", type=int, nargs="*", default=[0, 50, 200], help="until receivers answer"
    )
    parser.add_argument("--webhooks", type=int, nargs="+", default=[1, 200], help="they are for")
    parser.add_argument(
        "--workers", type=int, nargs="*", default=[10, 1], help="of the small servers"
    )
    parser.add_argument("--busy-ms", type=int, default=100, help="with a request, each worker")
    parser.add_argument("--small-waiting", type=int, default=20_000, help="for a small server")


def run(args: argparse.Namespace, rig: Rig) -> Outcome:
    paces: list[Pace] = []
    with Receiver(rig.folder, listen=EVERYWHERE) as receiver:
        rig.start()
        for webhooks in args.webhooks:
            for ms in args.ms:
                say(f"{webhooks} webhooks, answers after {ms} ms")
                paces.append(measure(rig, receiver, webhooks, ms, args.waiting, args.seconds))
        spared = []
        for workers in args.workers:
            say(f"a server of {workers} workers, {args.busy_ms} ms each")
            spared.append(
                small_receivers.measure(
                    receiver, workers, args.busy_ms / 1000, args.small_waiting, args.seconds
                )
            )
    promises = [promise(pace, paces) for pace in paces]
    return Outcome(
        table=[*table(paces, promises), *small_table(spared)],
        figures={
            "paces": [
                pace.row() | {"at_least_per_s": least, "ok": pace.deliveries_per_s >= least}
                for pace, least in zip(paces, promises, strict=True)
            ],
            "small": [each.row() for each in spared],
        },
        troubles=[word for pace in paces for word in pace.troubles]
        + [word for each in spared for word in each.troubles],
        failures=failures(paces, promises, spared),
    )


def promise(pace: Pace, paces: list[Pace]) -> float:
    """Return the required deliveries a second; 0 if nothing is promised."""
    if pace.webhooks == 1:
        return ONE_WEBHOOK.get(pace.ms, 0)
    at_once = [each for each in paces if each.ms == 0 and each.webhooks == pace.webhooks]
    return round(SHARE_OF_RATE * at_once[0].deliveries_per_s, 1) if pace.ms and at_once else 0


def failures(
    paces: list[Pace], promises: list[float], spared: list[SmallReceiverResult]
) -> list[str]:
    return [
        f"{pace.webhooks} webhooks at {pace.ms} ms: {pace.deliveries_per_s}/s, at least {least}/s"
        for pace, least in zip(paces, promises, strict=True)
        if pace.deliveries_per_s < least
    ] + [f"a server of {each.workers} workers: {word}" for each in spared for word in each.broken()]


def table(paces: list[Pace], promises: list[float]) -> Table:
    lines: list[tuple[object, ...]] = [
        ("webhooks", "answers after ms", "deliveries/s", "at least", *CPU, "in flight", "")
    ]
    for pace, least in zip(paces, promises, strict=True):
        cpu = [f"{pace.cpu_s_per_1000[name]:.3f}" for name in ("worker", "postgres")]
        holds = verdict(pace.deliveries_per_s >= least) if least else ""
        row = (pace.webhooks, pace.ms, pace.deliveries_per_s, least or "")
        lines.append((*row, *cpu, pace.most_in_flight, holds))
    return lines


CPU = ("worker CPU s/1000", "postgres CPU s/1000")


def small_table(spared: list[SmallReceiverResult]) -> Table:
    lines: list[tuple[object, ...]] = [
        ("workers", "answered/s", "share", "time-outs", "p99 ms", "attempts", "", "")
    ]
    for each in spared:
        row = each.row()
        figures: list[Any] = [row[name] for name in SMALL]
        lines.append((each.workers, *figures, "", verdict(not each.broken())))
    return lines


SMALL = ("answered_per_s", "share_of_capacity", "share_of_timeouts", "p99_ms", "attempts")
