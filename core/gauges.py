"""Gauges of what every product relies on."""

import shutil
from datetime import datetime

from django.conf import settings
from prometheus_client.metrics_core import GaugeMetricFamily

from core.data.database import count_connections, most_connections
from core.jobs.job import job_reports
from core.mailing import outbox
from core.measures.gauges import PREFIX, Gauges, gauge, gauge_by, gauges, seconds_since
from core.watch import hosts
from core.watch.readiness import all_parts, part_state


@gauges
def check_gauges(now: datetime) -> Gauges:
    family = GaugeMetricFamily(
        f"{PREFIX}check", "State of a check of doctor: 0 ok, 1 warn, 2 fail", labels=["check"]
    )
    for report in hosts.current_reports():
        labels = {"check": report.check} | ({"host": report.host} if report.host else {})
        family.add_sample(family.name, labels, report.state)
    yield family
    if (age := hosts.report_age()) is not None:
        yield gauge("checks_age_seconds", "Seconds since a host last ran the checks", age)


@gauges
def job_gauges(now: datetime) -> Gauges:
    reports = job_reports()
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


@gauges
def mail_gauges(now: datetime) -> Gauges:
    yield gauge(
        "mail_oldest_due_seconds",
        "Age of the oldest email that is not sent yet",
        seconds_since(now, outbox.oldest_due_mail()),
    )


@gauges
def surroundings_gauges(now: datetime) -> Gauges:
    """Yield database connections, the parts of /readyz, and free space on this host's disks."""
    connections = count_connections()
    yield gauge_by("state", "database_connections", "Connections to the database", connections)
    most = most_connections()
    yield gauge("database_connections_limit", "As many as its server takes (max_connections)", most)
    checked = {each.name: bool(part_state(each)["ok"]) for each in all_parts() if each.gauge}
    yield gauge_by("part", "part_ok", "1 while /readyz says that the part is well", checked)
    free = {}
    if settings.FILE_STORAGE.endswith(".FileSystemStorage"):
        try:
            room = shutil.disk_usage(settings.FILES_DIR)
        except OSError:  # the folder is created with the first file
            room = shutil.disk_usage("/")
        free["files"] = room.free / room.total
    text = "Free part of the disk that the folder lies on, of the host that answers"
    yield gauge_by("folder", "disk_free_ratio", text, free)
