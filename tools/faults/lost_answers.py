"""Lost answers: PostgreSQL commits, but the client is killed or stopped before it knows."""

import argparse
import time

from tools.dev.postgres import DATABASE, SUPERUSER
from tools.faults import in_flight, ledger
from tools.faults.feeding import register_signed
from tools.faults.ledger import Event
from tools.faults.probing import answers
from tools.faults.proxy import Proxy
from tools.faults.rig import Rig
from tools.faults.scenarios import LateAnswers, nothing_waits, patiently, until
from tools.faults.steady import Steady
from tools.faults.tickets import NONE_OF, Opening, judged
from tools.faults.verdict import Verdict, broken

ANSWER_AFTER_SECONDS = 0.1
# Time for which PostgreSQL's answers are held.
UNHEARD_SECONDS = 1.0
RECOVERED_WITHIN_SECONDS = 30.0


def lost_answers(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Hold PostgreSQL's answers; then kill or stop the worker, and kill web."""
    webhook = register_signed(rig.company, rig.receiver)
    rig.receiver.answer = LateAnswers(rig.receiver, ANSWER_AFTER_SECONDS)
    claimed: set[Event] = set()
    slowest = 0.0
    with Proxy(rig.place.sockets / ".s.PGSQL.5432") as proxy:
        address = f"DATABASE_URL=postgres://{SUPERUSER}@127.0.0.1:{proxy.port}/{DATABASE}"
        for kind in ("web", "worker"):
            rig.service.start(kind, through=("env", address))
        until(lambda: answers(rig.service, "/healthz"))
        with (
            Opening(rig.service, rig.company) as opening,
            Steady(rig.company, args.per_second) as steady,
        ):
            for turn in range(args.times):
                before = len(rig.receiver.log)
                until(lambda before=before: len(rig.receiver.log) > before + 20)
                until(lambda: bool(in_flight.claimed()) and bool(opening.in_flight))
                with proxy.answers_held():
                    time.sleep(UNHEARD_SECONDS)
                    claimed |= in_flight.claimed()
                    rig.service.kill("web")
                    if turn % 2:
                        rig.service.ask_to_stop("worker")
                    else:
                        rig.service.kill("worker")
                at = time.time()
                rig.service.stop(*{"worker"} & rig.service.processes.keys())
                claimed |= in_flight.claimed()
                for kind in ("web", "worker"):
                    rig.service.start(kind, through=("env", address))
                until(lambda at=at: any(each.at > at + 1 for each in list(rig.receiver.log)))
                slowest = max(slowest, time.time() - at)
        until(patiently(nothing_waits))
        # They need their database for a quick shutdown.
        rig.service.stop("web", "worker")
    figures = {
        **ledger.summary(rig.receiver.log, steady.events, webhook.secret),
        **opening.summary(),
        "repeats_at_most": len(claimed),
        "longest_seconds_to_the_next": round(slowest, 1),
    }
    troubles = broken(
        figures,
        at_most={
            **NONE_OF,
            "repeats": figures["repeats_at_most"],
            "longest_seconds_to_the_next": RECOVERED_WITHIN_SECONDS,
        },
    )
    return figures, [*troubles, *judged(figures)]
