"""The scenarios of `faults/run`: what each is done with by default, and what it must keep.

Each returns its figures, and a line for each promise that they break.
"""

import argparse
import json
from collections.abc import Callable

from faults import outages, scenarios, stand_stills, storms
from faults.feeding import Feed
from faults.rig import Rig
from faults.verdict import Verdict, broken


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


def killed_worker(rig: Rig, given: argparse.Namespace) -> Verdict:
    """kill -9 of the worker in the middle of its deliveries."""
    wanted = Feed(rig.company.pk, given.shipments, given.updates)
    found = scenarios.killed_worker(rig.service, rig.company, rig.receiver, wanted)
    return found, broken(found, at_most={"received_at_the_kill": given.updates - 1})


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
    return found, broken(found, at_least={"ticket_opened_while_down": True})


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
    return found, broken(found, at_most={"repeats": 0})


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
    return found, broken(found, at_most={"received_at_the_restart": given.updates - 1})


def storm(rig: Rig, given: argparse.Namespace) -> Verdict:
    """kill -9 of workers, beat, web and PostgreSQL backends while deliveries are in flight."""
    found = storms.storm(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, given.shipments, given.updates),
        kills=given.kills,
        kill_backend=rig.kill_backend,
        seed=given.seed,
    )
    return found, broken(
        found,
        at_most={"repeats": found["repeats_at_most"]},
        at_least={"least_claimed_at_a_kill": 1, "repeats": 1},
    )


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
    return found, broken(found, at_most={"repeats": 0})


Scenario = Callable[[Rig, argparse.Namespace], Verdict]
SCENARIOS: dict[str, tuple[Scenario, dict[str, float]]] = {
    "feed": (feed, {"shipments": 2000, "updates": 10_000, "surcharges": 500}),
    "killed-worker": (killed_worker, {"shipments": 500, "updates": 2000}),
    "kills": (stand_stills.kills, {"times": 20, "events": 1000, "seed": 1}),
    "frozen-worker": (stand_stills.frozen_worker, {"seconds": 12.0, "per-second": 50.0}),
    "cut-network": (stand_stills.cut_network, {"seconds": 30.0, "per-second": 50.0}),
    "database-frozen": (stand_stills.database_frozen, {"seconds": 12.0, "per-second": 50.0}),
    "stalled-database": (stand_stills.stalled_database, {"seconds": 9.0, "per-second": 50.0}),
    "beat-frozen": (stand_stills.beat_frozen, {"seconds": 20.0, "per-second": 50.0}),
    "broker-refuses": (stand_stills.broker_refuses, {"seconds": 20.0, "per-second": 50.0}),
    "silent-broker": (silent_broker, {"shipments": 100, "updates": 500, "down": 5.0}),
    "flushed-broker": (flushed_broker, {"shipments": 500, "updates": 5000, "times": 10}),
    "restarted-database": (restarted_database, {"shipments": 500, "updates": 4000}),
    "storm": (storm, {"shipments": 500, "updates": 10_000, "kills": 12, "seed": 1}),
    "restarts": (restarts, {"events": 10_000, "per-second": 200.0, "times": 5}),
}
