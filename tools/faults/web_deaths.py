"""Kills of the web process while companies open tickets."""

import argparse
import time

from tools.faults.probing import answers
from tools.faults.rig import Rig
from tools.faults.scenarios import until
from tools.faults.tickets import NONE_OF, Opening, judged
from tools.faults.verdict import Verdict, broken

BETWEEN = 10
RECOVERED_WITHIN_SECONDS = 30.0


def web_killed(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Kill web by kill -9 while tickets are opened, each retried with its idempotency key."""
    rig.service.start("web")
    until(lambda: answers(rig.service, "/healthz"))
    longest = 0.0
    with Opening(rig.service, rig.company) as opening:
        for _ in range(args.times):
            enough = len(opening.answered) + BETWEEN
            until(lambda enough=enough: len(opening.answered) >= enough and opening.in_flight > 0)
            at, answered = time.monotonic(), len(opening.answered)
            rig.service.kill("web")
            rig.service.start("web")
            until(lambda answered=answered: len(opening.answered) > answered + 1)
            longest = max(longest, time.monotonic() - at)
    figures = {**opening.summary(), "longest_seconds_to_the_next_ticket": round(longest, 1)}
    troubles = broken(
        figures,
        at_most={**NONE_OF, "longest_seconds_to_the_next_ticket": RECOVERED_WITHIN_SECONDS},
        at_least={"tickets_asked_for_again": 1},
    )
    return figures, [*troubles, *judged(figures)]
