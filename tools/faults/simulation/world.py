"""World of the simulation: two companies with three webhooks each, in a database."""

from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils import timezone

from companies.models import Company
from deliveries.models import State
from deliveries.upkeep import partitions
from shipments.event_types.status import ECOMMERCE_TRACKING, TRACKING_SIMPLE
from tools.faults.simulation.database import BEGAN, CLOCK, CLOCKS, SCHEMA, Spare
from tools.faults.simulation.scheduler import BEGINNING, EPOCH
from webhooks.models import Webhook

TYPES = (TRACKING_SIMPLE.id, ECOMMERCE_TRACKING.id, TRACKING_SIMPLE.id)
# The last webhook of each company is on a host that both share.
HOSTS = ("one.example", "two.example", "shared.example")
# Dead rows of earlier runs slow down the next ones.
VACUUM_EVERY = 10
# First id of companies and webhooks: ids must be the same in each run of a seed, on any database.
FIRST = 900_001
EMPTIED = (
    "deliveries_delivery",
    "deliveries_event",
    "deliveries_attempt",
    "deliveries_quarantine",
    "deliveries_health",
    "deliveries_heldhost",
    "deliveries_drain",
    "core_mail",
    "core_failedrow",
    "companies_erasure",
)
# Wake-ups of one moment are taken in the physical order of their rows, which must not depend on
# earlier runs.
TRUNCATED = ("deliveries_wakeup", "deliveries_lane", "deliveries_loop", "deliveries_heartbeat")


def secret_of(place: int) -> str:
    """Return the initial secret of a webhook, by its place among the six."""
    return f"{place:04x}" * 16


def url_of(place: int) -> str:
    company, own = divmod(place, len(TYPES))
    return f"https://{HOSTS[own]}/{'ab'[company]}{own}"


class World:
    """Database of the runs, and an observer's connection outside of them."""

    def __init__(self, folder: Path) -> None:
        """Create the world; the server must be able to read `folder`."""
        self.runs = 0
        self.spare: Spare = defaultdict(list)
        self.clock = folder / "clock"
        self.clock.touch()
        parameters = connections[DEFAULT_DB_ALIAS].get_connection_params()
        names = ("host", "port", "user", "password", "dbname")
        self.observer: psycopg.Connection[Any] = psycopg.connect(
            **{name: parameters[name] for name in names if parameters.get(name)}, autocommit=True
        )
        self.observer.execute(SCHEMA)
        beginning = EPOCH.isoformat()
        self.observer.execute(BEGAN.format(beginning=beginning, folder=folder))
        for name in CLOCKS:
            self.observer.execute(CLOCK.format(name=name, beginning=beginning, file=self.clock))
        # Create all partitions now: in a run lock_timeout would use the server's real clock, which
        # hardly advances.
        with patch("django.utils.timezone.now", return_value=BEGINNING):
            partitions.make_partitions()
        self.companies = [FIRST + number for number in range(2)]
        self.webhooks = [FIRST + number for number in range(2 * len(TYPES))]
        for pk in self.companies:
            Company.objects.get_or_create(pk=pk, defaults={"name": f"Simulated {pk}"})
        for number, pk in enumerate(self.webhooks):
            company, place = divmod(number, len(TYPES))
            parameters = {
                "company_id": FIRST + company,
                "type_id": TYPES[place],
                "url": url_of(number),
            }
            Webhook.objects.get_or_create(pk=pk, defaults=parameters)

    def begin(self) -> None:
        """Reset the database to its state before any run."""
        for table in EMPTIED:
            self.observer.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant
        self.observer.execute(f"TRUNCATE {', '.join(TRUNCATED)}")
        self.runs += 1
        if self.runs % VACUUM_EVERY == 0:
            self.observer.execute(f"VACUUM {', '.join(EMPTIED)}, webhooks_webhook")
        self.observer.execute("SELECT setval('deliveries_event_id_seq', 1, false)")
        self.observer.execute("SELECT setval('simulated.ids', 1, false)")
        for pk in self.companies:
            name = f"Simulated {pk}"
            Company.objects.filter(pk=pk).update(active=True, erased_at=None, name=name)
        for place, pk in enumerate(self.webhooks):
            Webhook.objects.filter(pk=pk).update(
                active=True,
                url=url_of(place),
                deleted_at=None,
                resumed_at=None,
                paused_reason="",
                secret=secret_of(place),
                next_secret=None,
                next_secret_at=None,
                max_in_flight=2 if place == 1 else None,
                created_at=timezone.now(),
            )
        # Deliveries get their ids in the physical order of the webhooks' rows.
        self.observer.execute("CLUSTER webhooks_webhook USING webhooks_webhook_pkey")

    def waits(self) -> int:
        """Count the waiting deliveries of active webhooks."""
        row = self.observer.execute(
            "SELECT count(*) FROM deliveries_delivery_open AS waiting"
            " JOIN webhooks_webhook AS own ON own.id = waiting.webhook_id"
            " JOIN companies_company AS company ON company.id = own.company_id"
            " WHERE own.active AND own.deleted_at IS NULL AND company.active"
        ).fetchone()
        return int(row[0]) if row else 0

    def loops(self) -> int:
        """Count the loops with a lease."""
        row = self.observer.execute(
            "SELECT count(*) FROM deliveries_heartbeat"
            " WHERE lease_until > simulated.statement_timestamp()"
        ).fetchone()
        return int(row[0]) if row else 0

    def deliveries(self) -> list[dict[str, Any]]:
        """Return the service's state of each delivery, as in its API."""
        rows = self.observer.execute(
            "SELECT delivery.id::text, convert_from(event.body, 'UTF8')::json->>'n', webhook_id,"
            " delivery.state, delivery.attempts, delivery.last_error"
            " FROM deliveries_delivery AS delivery JOIN deliveries_event AS event"
            " ON event.id = delivery.event_id AND event.created_at = delivery.created_at"
            " WHERE event.body <> '{}'"  # The body is '{}' after an erasure.
            " ORDER BY delivery.id"
        ).fetchall()
        names = ("id", "n", "webhook", "state", "attempts", "error")
        deliveries = [dict(zip(names, row, strict=True)) for row in rows]
        return [
            {**each, "n": int(each["n"]), "state": State(each["state"]).slug} for each in deliveries
        ]

    def close(self) -> None:
        for link in (*chain(*self.spare.values()), self.observer):
            link.close()
