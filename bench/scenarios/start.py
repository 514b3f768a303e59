"""How long it takes from starting the worker to its first delivery, and the processor time of that.

An event is published, then the worker of the Procfile is started, without beat: time counts until
the request arrives. In turns with it a Python that only loads the service's settings and models,
which tells how fast the machine is just then. Judged: 1.2 seconds in the median.
"""

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from bench import cpu, draining, load
from bench.measure import percentile
from bench.outcome import Outcome, Table, verdict
from bench.progress import say, until
from bench.receiver import Receiver
from bench.rig import Rig
from devtools.bootstrap import ROOT
from webhooks.models import Webhook

LONGEST_SECONDS = 1.2
DJANGO = "import django; django.setup()"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=10, help="starts")


@dataclass(frozen=True)
class Start:
    """Seconds of the clock and of the processor: the worker's, and those of Django alone."""

    seconds: float
    cpu: float
    django: float


def run(given: argparse.Namespace, rig: Rig) -> Outcome:
    with Receiver(rig.folder) as receiver:
        (webhook,) = load.webhooks([receiver.url("in")])
        starts = []
        for number in range(given.rounds):
            say(f"start {number + 1} of {given.rounds}")
            starts.append(start(rig, receiver, webhook))
    figures = in_short(starts)
    holds = figures["median_s"] <= LONGEST_SECONDS
    return Outcome(
        table=table(figures, holds),
        figures=figures | {"ok": holds},
        failures=[] if holds else [f"median {figures['median_s']} s, at most {LONGEST_SECONDS} s"],
    )


def start(rig: Rig, receiver: Receiver, webhook: Webhook) -> Start:
    django = seconds_of_django(rig)
    receiver.clear()
    with transaction.atomic():
        load.publish([webhook.company_id], 1)
    began = time.monotonic()
    rig.service.start("worker")
    worker = rig.service.processes["worker"].pid
    until(lambda: receiver.count() > 0, "the worker made no delivery")
    used = cpu.of_trees({"worker": worker})["worker"]
    (arrival,) = receiver.arrivals()
    until(lambda: not draining.waiting([webhook.pk]), "the delivery was not recorded")
    rig.service.stop("worker")
    return Start(arrival.at - began, used, django)


def seconds_of_django(rig: Rig) -> float:
    began = time.monotonic()
    command = [sys.executable, "-c", DJANGO]
    subprocess.run(command, cwd=ROOT, env=rig.service.environment, check=True)
    return time.monotonic() - began


def in_short(starts: list[Start]) -> dict[str, Any]:
    return {
        "starts": len(starts),
        "median_s": round(percentile([each.seconds for each in starts], 50), 2),
        "longest_s": round(max(each.seconds for each in starts), 2),
        "cpu_s": round(percentile([each.cpu for each in starts], 50), 2),
        "django_s": round(percentile([each.django for each in starts], 50), 2),
    }


def table(figures: dict[str, Any], holds: bool) -> Table:
    return [
        ("starts", "median s", "longest s", "worker CPU s", "Django alone s", ""),
        (*(figures[name] for name in COLUMNS), verdict(holds)),
    ]


COLUMNS = ("starts", "median_s", "longest_s", "cpu_s", "django_s")
