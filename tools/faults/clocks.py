"""Workers on hosts whose clocks are wrong by hours, one of which steps back."""

import argparse
import time
from pathlib import Path

from deliveries.models import Loop
from tools.faults import ledger
from tools.faults.feeding import register_signed
from tools.faults.helpers import REFUSED_OF, FirstRefused, retries_off_by
from tools.faults.receiver import Received
from tools.faults.rig import Rig
from tools.faults.scenarios import nothing_waits, until
from tools.faults.steady import Steady
from tools.faults.verdict import Verdict, broken

HOURS = 2 * 3600.0
RETRIES_OFF_BY_SECONDS = 5.0
# Receivers refuse signatures that are off by more than five minutes.
SIGNED_OFF_BY_SECONDS = 60.0
# sitecustomize module that shifts the wall clock of a process. The monotonic clock stays, as on a
# host whose clock is set.
ANOTHER_CLOCK = """
import os
import time
from datetime import timedelta

from django.utils import timezone

true_time, true_now = time.time, timezone.now


def offset():
    with open(os.environ["CLOCK_FILE"]) as file:
        return float(file.read())


time.time = lambda: true_time() + offset()
timezone.now = lambda: true_now() + timedelta(seconds=offset())
"""


class Clock:
    """Clock of a worker that is started `through` it."""

    def __init__(self, folder: Path, name: str, offset: float) -> None:
        self.file = folder / f"clock-{name}"
        self.code = folder / f"code-{name}"
        self.code.mkdir()
        (self.code / "sitecustomize.py").write_text(ANOTHER_CLOCK)
        self.set(offset)

    def set(self, offset: float) -> None:
        # Replace the file atomically: a reader sees either offset.
        new = self.file.with_suffix(".new")
        new.write_text(str(offset))
        new.rename(self.file)

    @property
    def through(self) -> tuple[str, ...]:
        return "env", f"PYTHONPATH={self.code}", f"CLOCK_FILE={self.file}"


def skewed_clocks(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Run a worker two hours ahead and one two hours behind; then the first steps back."""
    webhook = register_signed(rig.company, rig.receiver)
    rig.receiver.answer = FirstRefused()
    fast = Clock(rig.place.files, "fast", HOURS)
    slow = Clock(rig.place.files, "slow", -HOURS)
    rig.service.start("worker", "worker-1", fast.through)
    until(lambda: Loop.objects.exists())
    rig.service.start("worker", "worker-2", slow.through)
    lost: set[object] = set()
    with Steady(rig.company, args.per_second) as steady:
        until(lambda: len(rig.receiver.log) >= args.per_second)
        since = time.time()
        for turn in range(2 * int(args.seconds)):
            if turn == int(args.seconds):
                fast.set(-HOURS)
            time.sleep(0.5)
            lost |= set(Loop.objects.filter(lost=True).values_list("pk", flat=True))
    until(nothing_waits)
    retries = retries_off_by(rig.receiver.log, since, 5.0)
    figures = {
        **ledger.summary(rig.receiver.log, steady.events, webhook.secret),
        "loops_given_up": len(lost),
        "retries": len(retries),
        "retries_in_all": sum(sum(each) % REFUSED_OF == 0 for each in steady.events),
        "retries_off_by_seconds": max(retries, default=None),
        "signed_off_by_seconds": round(max(map(signed_off_by, rig.receiver.log)), 1),
    }
    return figures, broken(
        figures,
        at_most={
            "loops_given_up": 0,
            "repeats": figures["retries_in_all"],
            "retries_off_by_seconds": RETRIES_OFF_BY_SECONDS,
            "signed_off_by_seconds": SIGNED_OFF_BY_SECONDS,
        },
        at_least={"retries": 1},
    )


def signed_off_by(received: Received) -> float:
    """Return the seconds between a request's signature and its arrival."""
    return abs(int(received.headers["X-Webhook-Timestamp"]) / 1000 - received.at)
