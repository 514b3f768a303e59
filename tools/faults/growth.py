"""Growth of a worker's memory with the number of deliveries."""

import argparse

from tools.bench import memory
from tools.faults import ledger
from tools.faults.feeding import event_numbered, publish_numbered, register_signed
from tools.faults.rig import Rig
from tools.faults.scenarios import nothing_waits, until
from tools.faults.verdict import Verdict, broken

# Number of events after which all modules are loaded and all caches are full.
WARM = 5000
AT_ONCE = 500
GROWS_AT_MOST = 1.1
MB_AT_MOST = 64.0


def memory_level(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Check that a worker's memory stays level after its first 5,000 deliveries."""
    webhook = register_signed(rig.company, rig.receiver)
    rig.service.start("worker")
    worker = rig.service.processes["worker"].pid
    warm = 0.0
    for first in range(0, args.events, AT_ONCE):
        publish_numbered(rig.company, range(first, first + AT_ONCE))
        until(nothing_waits)
        if not warm and first + AT_ONCE >= min(WARM, args.events // 2):
            warm = memory.of_tree(worker).pss_mb
    ended = memory.of_tree(worker).pss_mb
    events = [event_numbered(number) for number in range(-(-args.events // AT_ONCE) * AT_ONCE)]
    figures = {
        **ledger.summary(rig.receiver.log, events, webhook.secret),
        "mb_when_warm": warm,
        "mb_at_the_end": ended,
        "grew_to": round(ended / warm, 2),
        "grew_by_mb": round(ended - warm, 1),
    }
    return figures, broken(
        figures, at_most={"repeats": 0, "grew_to": GROWS_AT_MOST, "grew_by_mb": MB_AT_MOST}
    )
