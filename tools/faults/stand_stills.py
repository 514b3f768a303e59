"""Scenarios of `tools/faults/run` in which a part freezes, is cut off or is killed.

Each returns its figures, and a line for each broken promise.
"""

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager

from tools.dev.postgres import DATABASE, SUPERUSER
from tools.faults import absences, database_outages, helpers
from tools.faults import kills as killing
from tools.faults.proxy import Proxy
from tools.faults.rig import Rig
from tools.faults.verdict import Figures, Verdict, broken

# Limit from a kill -9 until everything in flight has arrived, with fast receivers.
RECOVERED_WITHIN_SECONDS = 6.0
# Limit until another worker has taken over, and until a returned one works again.
CARRIED_ON_WITHIN_SECONDS = 30.0
# Limit while PostgreSQL is frozen, and after it.
API_ANSWERS_WITHIN_SECONDS = 10.0
HEALTHZ_ANSWERS_WITHIN_SECONDS = 1.0
GOES_ON_WITHIN_SECONDS = 5.0
# Limit without a working broker.
RETRIES_OFF_BY_SECONDS = 5.0
FIRST_WITHOUT_HELPER_SECONDS = 2.0
SAME_RATE = 0.9


def kills(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Kill the worker by kill -9 with deliveries in flight, and restart it, again and again."""
    figures = killing.kills(
        rig.service,
        rig.company,
        rig.receiver,
        times=args.times,
        events=args.events,
        seed=args.seed,
    )
    return figures, broken(
        figures,
        at_most={
            "repeats": figures["repeats_at_most"],
            "longest_seconds_to_the_last": RECOVERED_WITHIN_SECONDS,
        },
        at_least={"least_claimed_at_a_kill": 1, "repeats": 1},
    )


def frozen_worker(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Freeze that one of two workers which has deliveries in flight, and thaw it."""
    figures = absences.worker_away(
        rig.service,
        rig.company,
        rig.receiver,
        away=rig.service.frozen,
        seconds=args.seconds,
        per_second=args.per_second,
    )
    # A loop may be frozen between checking its lease and sending: one request of each.
    return figures, broken(figures, at_most=absence_promises(figures, figures["loops_that_went"]))


def cut_network(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Silence the network between PostgreSQL and a worker with deliveries in flight."""
    with Proxy(rig.place.sockets / ".s.PGSQL.5432") as proxy:
        address = f"DATABASE_URL=postgres://{SUPERUSER}@127.0.0.1:{proxy.port}/{DATABASE}"
        # Two addresses of one database count as two deployments, the second of which is refused.
        rig.service.environment["DEPLOYMENT"] = "faults"
        figures = absences.worker_away(
            rig.service,
            rig.company,
            rig.receiver,
            away=lambda _: proxy.silent(),
            seconds=args.seconds,
            per_second=args.per_second,
            through=("env", address),
        )
        # It needs its database for a quick shutdown.
        rig.service.stop(absences.AWAY)
    return figures, broken(figures, at_most=absence_promises(figures))


def absence_promises(figures: Figures, repeats_after: int = 0) -> dict[str, float]:
    return {
        "seconds_to_the_first_delivery": CARRIED_ON_WITHIN_SECONDS,
        "seconds_to_the_last_of_those_claimed": CARRIED_ON_WITHIN_SECONDS,
        "seconds_until_it_delivers_alone": CARRIED_ON_WITHIN_SECONDS,
        "repeats": figures["repeats_at_most"],
        "repeats_after_it_was_back": repeats_after,
        "recorded_twice": 0,
    }


def database_frozen(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Freeze all of PostgreSQL's processes with deliveries in flight, and thaw them."""
    figures = database_outages.database_stands_still(
        rig.service,
        rig.company,
        rig.receiver,
        still=rig.database_frozen,
        seconds=args.seconds,
        per_second=args.per_second,
    )
    troubles = broken(figures, at_most=stall_promises(figures))
    if figures["api_answers"] != [200, 503]:
        troubles.append("the API did not answer 503 while PostgreSQL stood still, and else 200")
    return figures, troubles


def stalled_database(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Lock the table of attempts with deliveries in flight."""
    figures = database_outages.database_stands_still(
        rig.service,
        rig.company,
        rig.receiver,
        still=database_outages.attempts_locked,
        seconds=args.seconds,
        per_second=args.per_second,
    )
    troubles = broken(figures, at_most=stall_promises(figures))
    if figures["api_answers"] != [200]:
        troubles.append("the API did not go on answering")
    return figures, troubles


def database_read_only(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Make PostgreSQL read-only for a while with deliveries in flight."""
    return database_troubled(rig, args, rig.database_read_only)


def connections_exhausted(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Terminate and occupy every connection to PostgreSQL for a while."""
    return database_troubled(rig, args, rig.no_connections_left)


def database_troubled(
    rig: Rig, args: argparse.Namespace, troubled: Callable[[], AbstractContextManager[None]]
) -> Verdict:
    figures = database_outages.database_stands_still(
        rig.service,
        rig.company,
        rig.receiver,
        still=troubled,
        seconds=args.seconds,
        per_second=args.per_second,
    )
    troubles = broken(figures, at_most=stall_promises(figures))
    if set(figures["api_answers"]) - {200, 503}:
        troubles.append("the API answered neither what was asked for nor 503")
    return figures, troubles


def stall_promises(figures: Figures) -> dict[str, float]:
    return {
        "repeats": figures["repeats_at_most"],
        "failed_attempts": 0,
        "api_503_without_retry_after": 0,
        "api_longest_seconds": API_ANSWERS_WITHIN_SECONDS,
        "healthz_longest_seconds": HEALTHZ_ANSWERS_WITHIN_SECONDS,
        "seconds_to_the_first_delivery": GOES_ON_WITHIN_SECONDS,
        "seconds_to_the_first_answer": GOES_ON_WITHIN_SECONDS,
        "seconds_until_nothing_waits": CARRIED_ON_WITHIN_SECONDS,
    }


def broker_refuses(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Make the broker refuse every write while events are published."""
    return without_broker(rig, args, lambda: helpers.refusing_writes(rig.broker.url))


def broker_frozen(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Freeze the broker while events are published."""
    return without_broker(rig, args, lambda: helpers.suspended(rig.broker.process.pid))


def rabbitmq_frozen(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Freeze RabbitMQ, as the broker, while events are published."""
    with rig.on_rabbitmq() as rabbit:
        return without_broker(rig, args, lambda: helpers.suspended(rabbit.process.pid))


def broker_drops(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Cut the broker's connections once a second while events are published."""
    return without_broker(rig, args, lambda: helpers.cutting_clients(rig.broker.url))


def broker_locks_out(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Change the broker's password while events are published, and change it back."""
    return without_broker(rig, args, lambda: helpers.locked_out(rig.broker.url))


def without_broker(
    rig: Rig, args: argparse.Namespace, away: Callable[[], AbstractContextManager[None]]
) -> Verdict:
    figures = helpers.helper_away(
        rig.service,
        rig.company,
        rig.receiver,
        away=away,
        seconds=args.seconds,
        per_second=args.per_second,
    )
    return figures, judged_without_helper(figures)


def judged_without_helper(figures: Figures) -> list[str]:
    return broken(
        figures,
        at_most={
            "retries_off_by_seconds": RETRIES_OFF_BY_SECONDS,
            "seconds_to_the_first_delivery": FIRST_WITHOUT_HELPER_SECONDS,
            # Events that were refused at first are sent twice, and no others.
            "repeats": figures["retries_in_all"],
        },
        at_least={
            "delivered_of_published": SAME_RATE,
            "retries": 1,
            "ticket_opened_meanwhile": True,
        },
    )
