"""Catalogue of incidents, each with its alert and its runbook."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from tools.faults.incidents.following import Page
from tools.faults.incidents.harms import caller_floods, crash_loop, database_disk_full
from tools.faults.incidents.mistakes import (
    bundle_gone,
    clock_wrong,
    schema_behind,
    wrong_bundle,
    wrong_company_erased,
)
from tools.faults.incidents.noticing import outage_of_ten, second_deployment
from tools.faults.incidents.plays import (
    Scene,
    bad_release,
    broker_gone,
    disk_nearly_full,
    erasure_asked_for,
    host_held_by_mistake,
    leaked_token,
    nobody_for_three_weeks,
    receiver_down,
    slow_database,
    wrong_field_keys,
)


class Incident(NamedTuple):
    """Incident. `alert` is None if no rule can notice it; `page` is a runbook or a document."""

    name: str
    play: Callable[[Scene, Page], Iterator[None]]
    alert: str | None
    page: str


INCIDENTS = (
    Incident("receiver-down", receiver_down, "ParceldeskReceiversDown", "receiver-down"),
    Incident("outage-of-ten", outage_of_ten, "ParceldeskReceiversFail", "attempts-fail"),
    Incident("second-deployment", second_deployment, None, "hosts-differ"),
    Incident("host-held", host_held_by_mistake, "ParceldeskHostHeld", "host-held"),
    Incident("disk-nearly-full", disk_nearly_full, "ParceldeskDiskFillsUp", "disk-full"),
    Incident("database-disk-full", database_disk_full, "ParceldeskDatabaseDiskFull", "disk-full"),
    Incident("slow-database", slow_database, "ParceldeskDeliveriesLate", "database-away"),
    Incident("broker-gone", broker_gone, "ParceldeskBrokerAway", "broker-away"),
    Incident("leaked-token", leaked_token, None, "leaked-token"),
    Incident("erasure", erasure_asked_for, None, "erase-a-company"),
    Incident("wrong-company-erased", wrong_company_erased, None, "backups.md"),
    Incident("wrong-keys", wrong_field_keys, "ParceldeskSecretsUnreadable", "unreadable-secrets"),
    Incident(
        "scheduler-dead", nobody_for_three_weeks, "ParceldeskPartitionsRunOut", "scheduler-away"
    ),
    Incident("crash-loop", crash_loop, "ParceldeskDeliverySetAside", "crash-loop"),
    Incident("schema-behind", schema_behind, "ParceldeskMigrationsMissing", "migrations-missing"),
    Incident("bundle-gone", bundle_gone, "ParceldeskCheckFails", "check-fails"),
    Incident("wrong-bundle", wrong_bundle, "ParceldeskReceiversFail", "attempts-fail"),
    Incident("clock-wrong", clock_wrong, "ParceldeskClockWrong", "clock-wrong"),
    Incident("caller-floods", caller_floods, "ParceldeskCallersFlood", "caller-floods"),
    Incident("bad-release", bad_release, "ParceldeskApiErrors", "bad-release"),
)
