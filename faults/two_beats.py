"""Two beats ring for everything twice."""

import argparse
import time

from deliveries.models import Pulse
from faults import ledger
from faults.feeding import register_signed
from faults.rig import Rig
from faults.scenarios import nothing_waits, until
from faults.steady import Steady
from faults.verdict import Verdict, broken


def two_beats(rig: Rig, given: argparse.Namespace) -> Verdict:
    """Two beats beside one worker while events come in: nothing is sent twice."""
    webhook = register_signed(rig.company, rig.receiver)
    other = rig.place.files / "another-beat"
    other.mkdir()
    rig.service.start("worker")
    rig.service.start("beat")
    rig.service.start("beat", "beat-2", ("env", f"DATA_DIR={other}"))
    until(lambda: bool(Pulse.objects.filter(at__isnull=False)))
    with Steady(rig.company, given.per_second) as steady:
        time.sleep(given.seconds)
    until(nothing_waits)
    found = {
        **ledger.summary(rig.receiver.log, steady.events, webhook.secret),
        "periodic_tasks_that_failed": Pulse.objects.filter(tries__gt=1).count(),
    }
    return found, broken(found, at_most={"repeats": 0, "periodic_tasks_that_failed": 0})
