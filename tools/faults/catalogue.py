"""The scenarios of `tools/faults/run`: what each is done with by default, and what it must keep.

Each returns its figures, and a line for each promise that they break.
"""

import argparse
import json
from collections.abc import Callable

from tools.faults import (
    clocks,
    crash_loop,
    deaths,
    failover,
    full_disk,
    growth,
    hurry,
    long_transaction,
    lost_answers,
    neighbours,
    outages,
    poison,
    scenarios,
    stand_stills,
    storms,
    streaming,
    tickets,
    upgrade,
    web_deaths,
)
from tools.faults.feeding import Feed
from tools.faults.hostile import scenario as hostile
from tools.faults.incidents import scenario as incidents
from tools.faults.rig import Rig
from tools.faults.verdict import Verdict, broken

# After the fault is over, until everything has arrived.
RECOVERED_WITHIN_SECONDS = 30.0
# After PostgreSQL is back, until the first has.
GOES_ON_WITHIN_SECONDS = 5.0


def feed(rig: Rig, given: argparse.Namespace) -> Verdict:
    """A feed against webhooks of all types, and the same feed again."""
    wanted = Feed(rig.company.pk, given.shipments, given.updates, given.surcharges)
    found = scenarios.feed(rig.service, rig.company, rig.receiver, wanted)
    again = json.loads(found["second_ingest"])
    whole = found["received"] == found["expected"] and not again["changed"] + again["events"]
    signed = all(
        verified == found["expected"][type_id] for type_id, verified in found["verified"].items()
    )
    troubles = broken(found)
    if not whole:
        troubles.append("not every event arrived once, or the second ingest changed something")
    if not signed:
        troubles.append("not every request was signed with the webhook's secret")
    return found, troubles


def poisonous_receiver(rig: Rig, given: argparse.Namespace) -> Verdict:
    """A receiver's answers end the whole worker: it is found and paused, and harms no other."""
    found = crash_loop.crash_loop(rig.service, rig.company, rig.receiver, events=given.events)
    return found, crash_loop.judge(found)


def killed_worker(rig: Rig, given: argparse.Namespace) -> Verdict:
    """kill -9 of the worker in the middle of its deliveries."""
    wanted = Feed(rig.company.pk, given.shipments, given.updates)
    found = scenarios.killed_worker(rig.service, rig.company, rig.receiver, wanted)
    return found, broken(
        found,
        at_most={
            "received_at_the_kill": given.updates - 1,
            "seconds_after_the_kill": RECOVERED_WITHIN_SECONDS,
        },
    )


def silent_broker(rig: Rig, given: argparse.Namespace) -> Verdict:
    """Events are published and a ticket is opened while the broker is down."""
    found = outages.silent_broker(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, given.shipments, given.updates),
        stop_broker=rig.broker.stop,
        start_broker=rig.broker.start_and_wait,
        down=given.down,
    )
    return found, broken(
        found,
        at_most={"repeats": 0, "seconds_after_it_was_back": RECOVERED_WITHIN_SECONDS},
        at_least={"ticket_opened_while_down": True, "received_while_down": given.updates},
    )


def flushed_broker(rig: Rig, given: argparse.Namespace) -> Verdict:
    """The broker forgets everything, twice a second, while a feed comes in."""
    found = outages.flushed_broker(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, given.shipments, given.updates),
        flush=rig.flush_broker,
        times=given.times,
    )
    return found, broken(
        found, at_most={"repeats": 0, "seconds_after_the_feed": RECOVERED_WITHIN_SECONDS}
    )


def restarted_database(rig: Rig, given: argparse.Namespace) -> Verdict:
    """PostgreSQL is restarted in the middle of a feed."""
    found = outages.restarted_database(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, given.shipments, given.updates),
        stop_database=rig.postgres.stop,
        start_database=rig.postgres.start_and_wait,
    )
    return found, broken(
        found,
        at_most={
            "received_at_the_restart": given.updates - 1,
            "seconds_to_the_first_delivery": GOES_ON_WITHIN_SECONDS,
            "seconds_to_the_last": RECOVERED_WITHIN_SECONDS,
        },
    )


def storm(rig: Rig, given: argparse.Namespace) -> Verdict:
    """kill -9 of workers, web and PostgreSQL backends while deliveries are in flight."""
    found = storms.storm(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, given.shipments, given.updates),
        kills=given.kills,
        kill_backend=rig.kill_backend,
        seed=given.seed,
    )
    troubles = broken(
        found,
        at_most={
            **tickets.NONE_OF,
            "repeats": found["repeats_at_most"],
            "longest_seconds_to_the_last": RECOVERED_WITHIN_SECONDS,
        },
        at_least={"least_claimed_at_a_kill": 1, "repeats": 1, "tickets_answered": 1},
    )
    return found, [*troubles, *tickets.judged(found)]


def restarts(rig: Rig, given: argparse.Namespace) -> Verdict:
    """Clean restarts of the worker under a steady rate of events."""
    found = storms.restarts(
        rig.service,
        rig.company,
        rig.receiver,
        events=given.events,
        per_second=given.per_second,
        times=given.times,
    )
    return found, broken(
        found,
        at_most={"repeats": 0, "drained_seconds_after_the_last": RECOVERED_WITHIN_SECONDS},
    )


Scenario = Callable[[Rig, argparse.Namespace], Verdict]
STAND_STILL = {"seconds": 12.0, "per-second": 50.0}
SCENARIOS: dict[str, tuple[Scenario, dict[str, float | str]]] = {
    "feed": (feed, {"shipments": 2000, "updates": 10_000, "surcharges": 500}),
    "killed-worker": (killed_worker, {"shipments": 500, "updates": 2000}),
    "kills": (stand_stills.kills, {"times": 20, "events": 1000, "seed": 1}),
    "killed-by-receiver": (deaths.killed_by_receiver, {"times": 2}),
    "parts-killed": (deaths.parts_killed, {"per-second": 50.0}),
    "lost-answers": (lost_answers.lost_answers, {"times": 2, "per-second": 50.0}),
    "power-cut": (deaths.power_cut, {"times": 2, "per-second": 50.0}),
    "web-killed": (web_deaths.web_killed, {"times": 5}),
    "frozen-worker": (stand_stills.frozen_worker, STAND_STILL),
    "cut-network": (stand_stills.cut_network, STAND_STILL | {"seconds": 30.0}),
    "failover": (failover.failover, STAND_STILL | {"seconds": 3.0}),
    "database-frozen": (stand_stills.database_frozen, STAND_STILL),
    "stalled-database": (stand_stills.stalled_database, STAND_STILL | {"seconds": 9.0}),
    "database-read-only": (stand_stills.database_read_only, STAND_STILL),
    "connections-exhausted": (stand_stills.connections_exhausted, STAND_STILL),
    "upgrade": (
        upgrade.upgrade,
        {"commit": "", "shipments": 100, "updates": 2400, "rows": 100_000},
    ),
    "full-disk": (full_disk.full_disk, STAND_STILL | {"seconds": 6.0}),
    "long-transaction": (long_transaction.long_transaction, {"batches": 10, "events": 1000}),
    "restarted-database": (restarted_database, {"shipments": 500, "updates": 4000}),
    "broker-refuses": (stand_stills.broker_refuses, STAND_STILL | {"seconds": 20.0}),
    "broker-frozen": (stand_stills.broker_frozen, STAND_STILL),
    "rabbitmq-frozen": (stand_stills.rabbitmq_frozen, STAND_STILL),
    "broker-drops": (stand_stills.broker_drops, STAND_STILL),
    "broker-locks-out": (stand_stills.broker_locks_out, STAND_STILL),
    "silent-broker": (silent_broker, {"shipments": 100, "updates": 500, "down": 5.0}),
    "flushed-broker": (flushed_broker, {"shipments": 500, "updates": 5000, "times": 10}),
    "skewed-clocks": (clocks.skewed_clocks, STAND_STILL),
    "poison": (poison.poison, {"seconds": 5.0, "per-second": 30.0}),
    "crash-loop": (poisonous_receiver, {"events": 1000}),
    "memory": (growth.memory_level, {"events": 50_000}),
    "neighbours": (neighbours.neighbours, {"scale": 0.2, "seconds": 8.0}),
    "hostile": (
        hostile.hostile,
        {"only": "", "seconds": 10.0, "backlog": 100_000, "tickets": 100_000},
    ),
    "storm": (storm, {"shipments": 500, "updates": 10_000, "kills": 12, "seed": 1}),
    "incidents": (incidents.incidents, {"only": "", "shortened": 20.0}),
    "stream": (
        streaming.stream,
        {"writers": 16, "seconds": 20.0, "kills": 4, "seed": 1},
    ),
    "hurry": (hurry.hurry, {"minutes": 30.0, "tickets": 300, "seed": 1, "ledger": ""}),
    "restarts": (restarts, {"events": 10_000, "per-second": 200.0, "times": 5}),
}
