"""What is so at this moment, for GET /metrics: a bounded number of statements for all of it."""

import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime

from django.conf import settings
from django.db import ProgrammingError
from django.utils import timezone
from prometheus_client.metrics_core import GaugeMetricFamily

from companies import services
from config import health
from core import mailing
from core.data.database import count_connections, most_connections
from core.data.database_words import is_of_another_version
from core.jobs import job as jobs
from core.watch import hosts
from deliveries.engine import holding, leases
from deliveries.engine.rooms import SLOTS
from deliveries.monitoring import backlog
from deliveries.upkeep import partitions, replaying
from tickets.models import Ticket
from tickets.models.agents import left_behind
from webhooks.models import Webhook

PREFIX = "parceldesk_"
# Of /readyz, what no figure of its own tells as well.
PARTS = (
    health.database_disk,
    health.broker,
    health.scheduler,
    health.outgoing_proxy,
    health.jobs,
    health.weeks_ahead,
)

Gauges = Iterator[GaugeMetricFamily]


def gauges() -> Gauges:
    """Raises OperationalError and InterfaceError where the database is away.

    Before `migrate` those are left out whose tables are not there yet, and `schema_ok` says so.
    """
    now, schema_ok = timezone.now(), True
    for group in GROUPS:
        try:
            families = list(group(now))
        except ProgrammingError as error:
            if not is_of_another_version(error):
                raise
            schema_ok = False
        else:
            yield from families
    yield gauge("schema_ok", "1 while every table that is asked for is there", schema_ok)


def gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, text, value)


def gauge_by(label: str, name: str, text: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    """One value for each value of a label."""
    family = GaugeMetricFamily(PREFIX + name, text, labels=[label])
    for which, value in values.items():
        family.add_metric([which], value)
    return family


def seconds_since(now: datetime, since: datetime | None) -> float:
    """In seconds; 0 where there is no such time."""
    return max(0.0, (now - since).total_seconds()) if since else 0.0


def of_checks(now: datetime) -> Gauges:
    family = GaugeMetricFamily(
        f"{PREFIX}check", "State of a check of doctor: 0 ok, 1 warn, 2 fail", labels=["check"]
    )
    for report in hosts.current_reports():
        labels = {"check": report.check} | ({"host": report.host} if report.host else {})
        family.add_sample(family.name, labels, report.state)
    yield family
    if (age := hosts.report_age()) is not None:
        yield gauge("checks_age_seconds", "Seconds since a host last ran the checks", age)


def of_deliveries(now: datetime) -> Gauges:
    waiting, oldest = backlog.count_waiting(), backlog.oldest_due_by_kind()
    yield gauge("deliveries_waiting", "Deliveries not finished (an estimate)", waiting)
    yield gauge_by(
        "kind",
        "deliveries_waiting_by_kind",
        "The same by what they wait for (from a sample, above 10,000)",
        backlog.count_waiting_by_kind(waiting),
    )
    yield gauge(
        "delivery_oldest_due_seconds",
        "Age of the oldest due delivery, without failing webhooks",
        seconds_since(now, min(filter(None, oldest), default=None)),
    )
    yield gauge_by(
        "kind",
        "delivery_oldest_due_by_kind_seconds",
        "The same of first attempts and of retries",
        {kind: seconds_since(now, since) for kind, since in oldest._asdict().items()},
    )
    sent_to = Webhook.objects.present().filter(active=True).exclude(url="").count()
    yield gauge("webhooks", "Webhooks that are sent to: active, with a URL", sent_to)
    failing, resting = backlog.count_unwell()
    text = "Webhooks with something waiting that failed three times or more since they last did not"
    yield gauge("webhooks_failing", text, failing)
    yield gauge("webhooks_resting", "Webhooks paused between probes after failures", resting)
    yield gauge(
        "mail_oldest_due_seconds",
        "Age of the oldest email that is not sent yet",
        seconds_since(now, mailing.oldest_due_mail()),
    )


def of_engine(now: datetime) -> Gauges:
    running = leases.running_loops()
    yield gauge("engine_loops", "Engine loops alive, of all hosts", running.loops)
    yield gauge("engine_loops_wanted", "DELIVERY_LOOPS", settings.DELIVERY_LOOPS)
    yield gauge("engine_slots", "Requests that they may have in flight", running.loops * SLOTS)
    yield gauge("engine_slots_busy", "Requests that they had in flight lately", running.busy)


def of_operators(now: datetime) -> Gauges:
    """What operators have stopped."""
    drain, held = holding.current_drain(), holding.held_hosts()
    yield gauge(
        "draining_seconds",
        "Seconds since an operator ran drain; 0 where none did",
        seconds_since(now, drain.since if drain else None),
    )
    yield gauge(
        "host_held_seconds",
        "For how long the host is held that an operator holds longest; 0 where none is",
        seconds_since(now, held[0].held_at if held else None),
    )
    yield gauge(
        "replay_still_seconds",
        "Seconds since the run of deliveries sent again moved that stands still longest; 0: none",
        # Drained loops are to let it stand.
        seconds_since(now, None if drain else replaying.still_since()),
    )


def of_jobs(now: datetime) -> Gauges:
    if pulse := backlog.last_pulse():
        since = (now - pulse).total_seconds()
        yield gauge("scheduler_age_seconds", "Seconds since a scheduler last began a sweep", since)
    reports = jobs.job_reports()
    yield gauge_by(
        "name",
        "job_age_seconds",
        "Seconds since the last success of the job",
        {
            report.name: (now - report.pulse.done_at).total_seconds()
            for report in reports
            if report.pulse and report.pulse.done_at
        },
    )
    yield gauge_by(
        "name",
        "job_failed_rows",
        "Rows that the job fails on and goes on without",
        {report.name: report.failed for report in reports},
    )


def of_partitions(now: datetime) -> Gauges:
    states = partitions.partition_states()
    yield gauge_by(
        "table",
        "partition_weeks_ahead",
        "Whole weeks after this one that the table has partitions for",
        {state.table: state.weeks_ahead for state in states},
    )
    yield gauge_by(
        "table",
        "partition_rest_occupied",
        "1 while rows lie in the table's default partition",
        {state.table: state.has_rest for state in states},
    )


def of_surroundings(now: datetime) -> Gauges:
    """The database's connections, what /readyz says, and the room on this host's disks."""
    connections = count_connections()
    yield gauge_by("state", "database_connections", "Connections to the database", connections)
    most = most_connections()
    yield gauge("database_connections_limit", "As many as its server takes (max_connections)", most)
    checked = {check.__name__: bool(health.check_result(check)["ok"]) for check in PARTS}
    yield gauge_by("part", "part_ok", "1 while /readyz says that the part is well", checked)
    free = {}
    if settings.FILE_STORAGE.endswith(".FileSystemStorage"):
        try:
            room = shutil.disk_usage(settings.FILES_DIR)
        except OSError:  # made with the first file
            room = shutil.disk_usage("/")
        free["files"] = room.free / room.total
    text = "Free part of the disk that the folder lies on, of the host that answers"
    yield gauge_by("folder", "disk_free_ratio", text, free)


def of_people(now: datetime) -> Gauges:
    if (used := services.platform_last_seen()) is not None:
        yield gauge(
            "platform_feed_age_seconds",
            "Seconds since the platform used POST /platform/feed, to the minute",
            (now - used).total_seconds(),
        )
    yield gauge("tickets_running", "Tickets whose clock runs", Ticket.objects.running().count())
    unassigned = Ticket.objects.waiting().count() + left_behind().count()
    yield gauge("tickets_unassigned", "Running tickets without an agent who works here", unassigned)


GROUPS = (
    of_checks,
    of_deliveries,
    of_engine,
    of_operators,
    of_jobs,
    of_partitions,
    of_surroundings,
    of_people,
)
