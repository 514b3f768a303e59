"""The scenarios of `tools/faults/run` in which a part stands still, is cut off or is killed.

Each returns its figures, and a line for each promise that they break.
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

# From a kill -9 until all that was in flight has arrived, where receivers answer at once.
RECOVERED_WITHIN_SECONDS = 6.0
# Until another worker has taken over, and until one that is back works again.
CARRIED_ON_WITHIN_SECONDS = 30.0
# While PostgreSQL stands still, and after it.
API_ANSWERS_WITHIN_SECONDS = 10.0
HEALTHZ_ANSWERS_WITHIN_SECONDS = 1.0
GOES_ON_WITHIN_SECONDS = 5.0
# Without a broker that takes anything.
RETRIES_OFF_BY_SECONDS = 5.0
FIRST_WITHOUT_HELPER_SECONDS = 2.0
SAME_RATE = 0.9


def kills(rig: Rig, given: argparse.Namespace) -> Verdict:
    """kill -9 of the worker with deliveries in flight, restarted at once, again and again."""
    found = killing.kills(
        rig.service,
        rig.company,
        rig.receiver,
        times=given.times,
        events=given.events,
        seed=given.seed,
    )
    return found, broken(
        found,
        at_most={
            "repeats": found["repeats_at_most"],
            "longest_seconds_to_the_last": RECOVERED_WITHIN_SECONDS,
        },
        at_least={"least_claimed_at_a_kill": 1, "repeats": 1},
    )


def frozen_worker(rig: Rig, given: argparse.Namespace) -> Verdict:
    """SIGSTOP of the one of two workers that has deliveries in flight, then SIGCONT."""
    found = absences.worker_away(
        rig.service,
        rig.company,
        rig.receiver,
        away=rig.service.frozen,
        seconds=given.seconds,
        per_second=given.per_second,
    )
    # A loop may be frozen between looking at its lease and sending: one request of each.
    return found, broken(found, at_most=absence_promises(found, found["loops_that_went"]))


def cut_network(rig: Rig, given: argparse.Namespace) -> Verdict:
    """Silence between PostgreSQL and the one of two workers that has deliveries in flight."""
    with Proxy(rig.place.sockets / ".s.PGSQL.5432") as proxy:
        address = f"DATABASE_URL=postgres://{SUPERUSER}@127.0.0.1:{proxy.port}/{DATABASE}"
        # Two addresses of one database would make two deployments, and the second does not start.
        rig.service.environment["DEPLOYMENT"] = "faults"
        found = absences.worker_away(
            rig.service,
            rig.company,
            rig.receiver,
            away=lambda _: proxy.silent(),
            seconds=given.seconds,
            per_second=given.per_second,
            through=("env", address),
        )
        # It needs its database to stop at once.
        rig.service.stop(absences.AWAY)
    return found, broken(found, at_most=absence_promises(found))


def absence_promises(found: Figures, repeats_after: int = 0) -> dict[str, float]:
    return {
        "seconds_to_the_first_delivery": CARRIED_ON_WITHIN_SECONDS,
        "seconds_to_the_last_of_those_claimed": CARRIED_ON_WITHIN_SECONDS,
        "seconds_until_it_delivers_alone": CARRIED_ON_WITHIN_SECONDS,
        "repeats": found["repeats_at_most"],
        "repeats_after_it_was_back": repeats_after,
        "recorded_twice": 0,
    }


def database_frozen(rig: Rig, given: argparse.Namespace) -> Verdict:
    """SIGSTOP of all of PostgreSQL's processes with deliveries in flight, then SIGCONT."""
    found = database_outages.database_stands_still(
        rig.service,
        rig.company,
        rig.receiver,
        still=rig.database_frozen,
        seconds=given.seconds,
        per_second=given.per_second,
    )
    troubles = broken(found, at_most=stall_promises(found))
    if found["api_answers"] != [200, 503]:
        troubles.append("the API did not answer 503 while PostgreSQL stood still, and else 200")
    return found, troubles


def stalled_database(rig: Rig, given: argparse.Namespace) -> Verdict:
    """A lock on the table of attempts, with deliveries in flight."""
    found = database_outages.database_stands_still(
        rig.service,
        rig.company,
        rig.receiver,
        still=database_outages.attempts_locked,
        seconds=given.seconds,
        per_second=given.per_second,
    )
    troubles = broken(found, at_most=stall_promises(found))
    if found["api_answers"] != [200]:
        troubles.append("the API did not go on answering")
    return found, troubles


def database_read_only(rig: Rig, given: argparse.Namespace) -> Verdict:
    """PostgreSQL takes no writes, with deliveries in flight, and then takes them again."""
    return database_troubled(rig, given, rig.database_read_only)


def connections_exhausted(rig: Rig, given: argparse.Namespace) -> Verdict:
    """Every connection to PostgreSQL is terminated and taken by somebody else, for a while."""
    return database_troubled(rig, given, rig.no_connections_left)


def database_troubled(
    rig: Rig, given: argparse.Namespace, troubled: Callable[[], AbstractContextManager[None]]
) -> Verdict:
    found = database_outages.database_stands_still(
        rig.service,
        rig.company,
        rig.receiver,
        still=troubled,
        seconds=given.seconds,
        per_second=given.per_second,
    )
    troubles = broken(found, at_most=stall_promises(found))
    if set(found["api_answers"]) - {200, 503}:
        troubles.append("the API answered neither what was asked for nor 503")
    return found, troubles


def stall_promises(found: Figures) -> dict[str, float]:
    return {
        "repeats": found["repeats_at_most"],
        "failed_attempts": 0,
        "api_503_without_retry_after": 0,
        "api_longest_seconds": API_ANSWERS_WITHIN_SECONDS,
        "healthz_longest_seconds": HEALTHZ_ANSWERS_WITHIN_SECONDS,
        "seconds_to_the_first_delivery": GOES_ON_WITHIN_SECONDS,
        "seconds_to_the_first_answer": GOES_ON_WITHIN_SECONDS,
        "seconds_until_nothing_waits": CARRIED_ON_WITHIN_SECONDS,
    }


def broker_refuses(rig: Rig, given: argparse.Namespace) -> Verdict:
    """The broker answers every write with an error while events come in."""
    return without_broker(rig, given, lambda: helpers.refusing_writes(rig.broker.url))


def broker_frozen(rig: Rig, given: argparse.Namespace) -> Verdict:
    """SIGSTOP of the broker while events come in."""
    return without_broker(rig, given, lambda: helpers.stopped(rig.broker.process.pid))


def rabbitmq_frozen(rig: Rig, given: argparse.Namespace) -> Verdict:
    """SIGSTOP of a RabbitMQ in the broker's place while events come in."""
    with rig.on_rabbitmq() as rabbit:
        return without_broker(rig, given, lambda: helpers.stopped(rabbit.process.pid))


def broker_drops(rig: Rig, given: argparse.Namespace) -> Verdict:
    """The broker's connections are cut once a second while events come in."""
    return without_broker(rig, given, lambda: helpers.cutting_clients(rig.broker.url))


def broker_locks_out(rig: Rig, given: argparse.Namespace) -> Verdict:
    """The broker's password is changed while events come in, and changed back."""
    return without_broker(rig, given, lambda: helpers.locked_out(rig.broker.url))


def without_broker(
    rig: Rig, given: argparse.Namespace, away: Callable[[], AbstractContextManager[None]]
) -> Verdict:
    found = helpers.helper_away(
        rig.service,
        rig.company,
        rig.receiver,
        away=away,
        seconds=given.seconds,
        per_second=given.per_second,
    )
    return found, judged_without_helper(found)


def judged_without_helper(found: Figures) -> list[str]:
    return broken(
        found,
        at_most={
            "retries_off_by_seconds": RETRIES_OFF_BY_SECONDS,
            "seconds_to_the_first_delivery": FIRST_WITHOUT_HELPER_SECONDS,
            # What was refused at first is sent twice, and nothing else.
            "repeats": found["retries_in_all"],
        },
        at_least={
            "delivered_of_published": SAME_RATE,
            "retries": 1,
            "ticket_opened_meanwhile": True,
        },
    )
