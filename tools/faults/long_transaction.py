"""Transaction that stays open while the queue is filled and emptied again and again."""

import argparse
import time

from tools.faults import ledger
from tools.faults.feeding import event_numbered, publish_numbered, register_signed
from tools.faults.rig import Rig, link_to
from tools.faults.scenarios import nothing_waits, until
from tools.faults.verdict import Verdict, broken

TIMES_AS_LONG = 3.0
LEAST_SECONDS = 0.5


def long_transaction(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Keep vacuum from removing dead rows by an open transaction: batches must stay fast."""
    webhook = register_signed(rig.company, rig.receiver)
    rig.service.start("worker")
    until(lambda: round_trip(rig, range(100)) > 0)
    durations = []
    with link_to(rig.postgres, autocommit=False) as link:
        link.execute("SELECT count(*) FROM deliveries_delivery")
        for batch in range(args.batches):
            first = 100 + batch * args.events
            durations.append(round_trip(rig, range(first, first + args.events)))
        link.rollback()
    numbers = 100 + args.batches * args.events
    quiet = max(min(durations[:3]), LEAST_SECONDS)
    figures = {
        **ledger.summary(
            rig.receiver.log, [event_numbered(each) for each in range(numbers)], webhook.secret
        ),
        "seconds_of_each_batch": [round(each, 2) for each in durations],
        "last_to_first": round(min(durations[-3:]) / quiet, 2),
    }
    return figures, broken(figures, at_most={"repeats": 0, "last_to_first": TIMES_AS_LONG})


def round_trip(rig: Rig, numbers: range) -> float:
    started = time.monotonic()
    publish_numbered(rig.company, numbers)
    until(nothing_waits)
    return time.monotonic() - started
