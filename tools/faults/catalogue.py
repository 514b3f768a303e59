"""Scenarios of `tools/faults/run`, with their default sizes and the promises they check.

Each returns its figures, and a line for each broken promise.
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

# Limit from the end of the fault until everything has arrived.
RECOVERED_WITHIN_SECONDS = 30.0
# Limit from PostgreSQL's return until the first arrival.
GOES_ON_WITHIN_SECONDS = 5.0


def feed(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Ingest a feed for webhooks of all types, and then the same feed again."""
    wanted = Feed(rig.company.pk, args.shipments, args.updates, args.surcharges)
    figures = scenarios.feed(rig.service, rig.company, rig.receiver, wanted)
    again = json.loads(figures["second_ingest"])
    expected = figures["expected"]
    whole = figures["received"] == expected and not again["changed"] + again["events"]
    signed = all(verified == expected[type_id] for type_id, verified in figures["verified"].items())
    troubles = broken(figures)
    if not whole:
        troubles.append("not every event arrived once, or the second ingest changed something")
    if not signed:
        troubles.append("not every request was signed with the webhook's secret")
    return figures, troubles


def poisonous_receiver(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Let a receiver's answers crash the worker: it must be paused, and harm no other."""
    figures = crash_loop.crash_loop(rig.service, rig.company, rig.receiver, events=args.events)
    return figures, crash_loop.judge(figures)


def killed_worker(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Kill the worker by kill -9 in the middle of its deliveries."""
    wanted = Feed(rig.company.pk, args.shipments, args.updates)
    figures = scenarios.killed_worker(rig.service, rig.company, rig.receiver, wanted)
    return figures, broken(
        figures,
        at_most={
            "received_at_the_kill": args.updates - 1,
            "seconds_after_the_kill": RECOVERED_WITHIN_SECONDS,
        },
    )


def silent_broker(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Publish events and open a ticket while the broker is down."""
    figures = outages.silent_broker(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, args.shipments, args.updates),
        stop_broker=rig.broker.stop,
        start_broker=rig.broker.start_and_wait,
        down=args.down,
    )
    return figures, broken(
        figures,
        at_most={"repeats": 0, "seconds_after_it_was_back": RECOVERED_WITHIN_SECONDS},
        at_least={"ticket_opened_while_down": True, "received_while_down": args.updates},
    )


def flushed_broker(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Flush the broker twice a second while a feed is ingested."""
    figures = outages.flushed_broker(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, args.shipments, args.updates),
        flush=rig.flush_broker,
        times=args.times,
    )
    return figures, broken(
        figures, at_most={"repeats": 0, "seconds_after_the_feed": RECOVERED_WITHIN_SECONDS}
    )


def restarted_database(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Restart PostgreSQL in the middle of a feed."""
    figures = outages.restarted_database(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, args.shipments, args.updates),
        stop_database=rig.postgres.stop,
        start_database=rig.postgres.start_and_wait,
    )
    return figures, broken(
        figures,
        at_most={
            "received_at_the_restart": args.updates - 1,
            "seconds_to_the_first_delivery": GOES_ON_WITHIN_SECONDS,
            "seconds_to_the_last": RECOVERED_WITHIN_SECONDS,
        },
    )


def storm(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Kill workers, web and PostgreSQL backends by kill -9 with deliveries in flight."""
    figures = storms.storm(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, args.shipments, args.updates),
        kills=args.kills,
        kill_backend=rig.kill_backend,
        seed=args.seed,
    )
    troubles = broken(
        figures,
        at_most={
            **tickets.NONE_OF,
            "repeats": figures["repeats_at_most"],
            "longest_seconds_to_the_last": RECOVERED_WITHIN_SECONDS,
        },
        at_least={"least_claimed_at_a_kill": 1, "repeats": 1, "tickets_answered": 1},
    )
    return figures, [*troubles, *tickets.judged(figures)]


def restarts(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Restart the worker cleanly under a steady rate of events."""
    figures = storms.restarts(
        rig.service,
        rig.company,
        rig.receiver,
        events=args.events,
        per_second=args.per_second,
        times=args.times,
    )
    return figures, broken(
        figures,
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
