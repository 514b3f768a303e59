"""Runs a scenario on a PostgreSQL server (with fsync) and a broker of its own."""

import argparse
import contextlib
import json
import os
import random
import signal
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import trustme
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection
from kombu import Connection

from companies.models import Company
from companies.services import create_company
from devtools.places import Place
from devtools.ports import why_not
from devtools.postgres import Postgres
from devtools.valkey import Valkey
from faults import outages, scenarios, storms
from faults.feeding import Feed
from faults.receiver import Receiver
from faults.service import Service

Figures = dict[str, Any]


class Rig:
    """The servers, the service and the receiver of a run."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.postgres = Postgres(place)
        self.broker = Valkey(place)

    @contextlib.contextmanager
    def up(self) -> Iterator["Rig"]:
        """Start the servers and a receiver with TLS; stop them at the end, also after an error."""
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.place.files / "ca.pem")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        try:
            for server in (self.postgres, self.broker):
                server.start_and_wait()
            call_command("migrate", verbosity=0)
            self.company: Company = create_company("Acme")
            port = {"PORT": str(free_port()), "WORKER_CONCURRENCY": "3"}
            with (
                Receiver(context) as self.receiver,
                Service(port, self.place.files) as self.service,
            ):
                yield self
        finally:
            connection.close()
            self.broker.stop()
            self.postgres.stop()

    def kill_backend(self, dice: random.Random) -> None:
        """Kill a random PostgreSQL backend with SIGKILL, so that the server does crash recovery."""
        with contextlib.suppress(OperationalError), connection.cursor() as cursor:
            cursor.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
            pids = [pid for (pid,) in cursor.fetchall()]
            os.kill(dice.choice(pids), signal.SIGKILL)

    def flush_broker(self) -> None:
        with Connection(settings.CELERY_BROKER_URL) as opened:
            opened.default_channel.client.flushall()


def feed(rig: Rig, given: argparse.Namespace) -> tuple[Figures, bool]:
    """Ingest a feed for webhooks of all types, then the same feed again."""
    wanted = Feed(rig.company.pk, given.shipments, given.updates, given.surcharges)
    found = scenarios.feed(rig.service, rig.company, rig.receiver, wanted)
    again = json.loads(found["second_ingest"])
    whole = found["received"] == found["expected"] and not again["changed"] + again["events"]
    signed = all(
        verified == found["expected"][type_id] for type_id, verified in found["verified"].items()
    )
    return found, whole and signed and not found["out_of_order"]


def killed_worker(rig: Rig, given: argparse.Namespace) -> tuple[Figures, bool]:
    """Kill the worker with SIGKILL while it sends deliveries."""
    wanted = Feed(rig.company.pk, given.shipments, given.updates)
    return judged(scenarios.killed_worker(rig.service, rig.company, rig.receiver, wanted))


def silent_broker(rig: Rig, given: argparse.Namespace) -> tuple[Figures, bool]:
    """Publish events and open a ticket while the broker is down."""
    found = outages.silent_broker(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, given.shipments, given.updates),
        stop_broker=rig.broker.stop,
        start_broker=rig.broker.start_and_wait,
        down=given.down,
    )
    found, good = judged(found)
    return found, good and found["ticket_opened_while_down"]


def flushed_broker(rig: Rig, given: argparse.Namespace) -> tuple[Figures, bool]:
    """Flush the broker twice a second while a feed is ingested."""
    return judged(
        outages.flushed_broker(
            rig.service,
            rig.company,
            rig.receiver,
            Feed(rig.company.pk, given.shipments, given.updates),
            flush=rig.flush_broker,
            times=given.times,
        )
    )


def restarted_database(rig: Rig, given: argparse.Namespace) -> tuple[Figures, bool]:
    """Restart PostgreSQL while a feed is ingested."""
    return judged(
        outages.restarted_database(
            rig.service,
            rig.company,
            rig.receiver,
            Feed(rig.company.pk, given.shipments, given.updates),
            stop_database=rig.postgres.stop,
            start_database=rig.postgres.start_and_wait,
        )
    )


def storm(rig: Rig, given: argparse.Namespace) -> tuple[Figures, bool]:
    """Kill worker, beat, web or a PostgreSQL backend with SIGKILL, every few seconds, at random."""
    found = storms.storm(
        rig.service,
        rig.company,
        rig.receiver,
        Feed(rig.company.pk, given.shipments, given.updates),
        kills=given.kills,
        pause=(2, 5),
        kill_backend=rig.kill_backend,
        seed=given.seed,
    )
    found, good = judged(found)
    return found, good and found["repeats"] <= found["repeats_at_most"]


def restarts(rig: Rig, given: argparse.Namespace) -> tuple[Figures, bool]:
    """Restart the worker cleanly while events are published at a steady rate."""
    found = storms.restarts(
        rig.service,
        rig.company,
        rig.receiver,
        events=given.events,
        per_second=given.per_second,
        times=given.times,
    )
    found, good = judged(found)
    return found, good and not found["repeats"]


def judged(found: Figures) -> tuple[Figures, bool]:
    return found, not (found["lost"] or found["out_of_order"] or found["dishonest_repeats"])


Scenario = Callable[[Rig, argparse.Namespace], tuple[Figures, bool]]
SCENARIOS: dict[str, tuple[Scenario, dict[str, float]]] = {
    "feed": (feed, {"shipments": 2000, "updates": 10_000, "surcharges": 500}),
    "killed-worker": (killed_worker, {"shipments": 500, "updates": 2000}),
    "silent-broker": (silent_broker, {"shipments": 100, "updates": 500, "down": 5.0}),
    "flushed-broker": (flushed_broker, {"shipments": 500, "updates": 5000, "times": 10}),
    "restarted-database": (restarted_database, {"shipments": 500, "updates": 4000}),
    "storm": (storm, {"shipments": 500, "updates": 10_000, "kills": 12, "seed": 1}),
    "restarts": (restarts, {"events": 10_000, "per-second": 200.0, "times": 5}),
}


def run(arguments: list[str], place: Place) -> int:
    """Return 0 if nothing was lost or repeated wrongly, else 1. Prints the figures as JSON."""
    parser = argparse.ArgumentParser(prog="faults/run", description=__doc__)
    choices = parser.add_subparsers(dest="scenario", required=True)
    for name, (scenario, sizes) in SCENARIOS.items():
        chosen = choices.add_parser(name, help=scenario.__doc__, description=scenario.__doc__)
        for option, size in sizes.items():
            chosen.add_argument(f"--{option}", type=type(size), default=size, help="%(default)s")
    given = parser.parse_args(arguments)
    start = time.monotonic()
    with Rig(place).up() as rig:
        print(f"faults: {given.scenario}, on servers of its own", file=sys.stderr)
        found, good = SCENARIOS[given.scenario][0](rig, given)
    found["seconds"] = round(time.monotonic() - start, 1)
    print(json.dumps(found, indent=2))
    print("balanced" if good else "NOT BALANCED", file=sys.stderr)
    return 0 if good else 1


def free_port() -> int:
    """A free port to listen on later.

    It is below the range of ephemeral ports: another connection could take one of those first.
    """
    while why_not(port := random.randint(20_000, 32_000)):  # noqa: S311 - no secret
        pass
    return port
