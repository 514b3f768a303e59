"""For operators and their machines: ready (decisions, section 4)."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from celery import current_app
from django.apps import apps
from django.db import OperationalError, ProgrammingError, connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from kombu import Producer, Queue
from psycopg.errors import ConfigurationLimitExceeded, DiskFull

from core.jobs import job as scheduled
from core.watch.doctor import first_line
from deliveries.engine import leases
from deliveries.engine.way_out import proxy_as_loops_find_it
from deliveries.monitoring import backlog
from deliveries.upkeep import partitions

SCHEDULER_MAY_BE_AWAY = timedelta(seconds=30)
DUE_MAY_WAIT = timedelta(minutes=2)
# In the folder of the database's own files, wherever others may lie.
SPILL = "SET LOCAL work_mem = '64kB'; SET LOCAL temp_tablespaces = ''"
FILL = "SELECT count(*) FROM generate_series(1, 50000)"
PROBE, PROBE_SECONDS = "parceldesk.probe", 60


def readyz(request: HttpRequest) -> HttpResponse:
    """200 when every part does its work, else 503; the body says which part does not, and why."""
    checks = {check.__name__: check_result(check) for check in CHECKS}
    ready = all(checked["ok"] for checked in checks.values())
    answer = {"status": "ready" if ready else "not ready", "checks": checks}
    return JsonResponse(answer, status=200 if ready else 503)


def check_result(check: Callable[[], str]) -> dict[str, object]:
    try:
        return {"ok": True, "detail": check()}
    except Exception as error:  # a readiness page must describe a failure, never be one
        return {"ok": False, "detail": str(error).strip().partition("\n")[0]}


def database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return "answers"


def database_disk() -> str:
    """Have PostgreSQL write a file of a megabyte, which it removes again.

    A server whose disk is full goes on answering whatever reads.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(SPILL)
            cursor.execute(FILL)
    except OperationalError as error:
        if isinstance(error.__cause__, DiskFull):
            text = f"No space left: {first_line(error)}"
            raise RuntimeError(text) from error
        if isinstance(error.__cause__, ConfigurationLimitExceeded):
            return "cannot be tried, as temp_file_limit allows no file of a megabyte"
        raise
    return "takes a file"


def migrations() -> str:
    if missing := shipped_migrations() - applied_migrations():
        raise RuntimeError(f"{len(missing)} migrations are not applied: run manage.py migrate")
    return "applied"


def applied_migrations() -> set[tuple[str, str]]:
    """Return the app and name of each; none where nothing was ever migrated."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            return set(cursor.fetchall())
    except ProgrammingError:
        return set()


@cache
def shipped_migrations() -> frozenset[tuple[str, str]]:
    """Return the app and name of each migration, by its file: loading all of them takes 9 MB."""
    return frozenset(
        (app.label, each.name)
        for app in apps.get_app_configs()
        for each in iter_modules([str(Path(app.path) / "migrations")])
        if not each.name.startswith(("_", "~"))
    )


def broker() -> str:
    """One that answers may still refuse to write: it is full, or lacks its replicas."""
    link = current_app.connection_for_write()
    try:
        link.ensure_connection(max_retries=1, interval_start=0, timeout=1)
        probe_write(link.channel())
    except Exception:
        # RabbitMQ without room does not even answer to a farewell.
        link.collect()
        raise
    link.release()
    return "takes what is written"


def probe_write(channel: Any) -> None:
    """Write as little as will be noticed, which the broker forgets by itself."""
    client = getattr(channel, "client", None)
    if client is not None:
        # Redis and Valkey keep every queue as a key.
        client.set(PROBE, 1, ex=PROBE_SECONDS)
        return
    # RabbitMQ confirms what it has taken. While an alarm is on it takes one message and no second,
    # and says so then.
    channel.connection.on_blocked = refuse_without_room
    channel.basic_publish = getattr(channel, "basic_publish_confirm", channel.basic_publish)
    queue = Queue(PROBE, routing_key=PROBE, expires=PROBE_SECONDS, max_length=1)
    with Producer(channel) as producer:
        for _ in range(2):
            producer.publish(
                b"",
                routing_key=PROBE,
                declare=[queue],
                delivery_mode=1,  # not kept on disk
                expiration=1,
                timeout=1,
                confirm_timeout=1,
            )


def refuse_without_room(_: str) -> None:
    """Raise RuntimeError: RabbitMQ has blocked the connection."""
    raise RuntimeError("RabbitMQ takes no messages: its alarm for memory or disk is on")


def scheduler() -> str:
    last = backlog.last_pulse()
    if last is None:
        raise RuntimeError("no job has run yet: start a worker")
    age = timezone.now() - last
    if age > SCHEDULER_MAY_BE_AWAY:
        seconds = f"{age.total_seconds():.0f} s"
        raise RuntimeError(f"no scheduler has begun a sweep for {seconds}: start a worker")
    return f"last sweep {age.total_seconds():.1f} s ago"


def oldest_due_delivery() -> str:
    oldest = backlog.oldest_due()
    if oldest is None:
        return "nothing is due"
    age = timezone.now() - oldest
    if age > DUE_MAY_WAIT:
        due = f"due for {age.total_seconds():.0f} s"
        if not leases.running_loops().loops:
            raise RuntimeError(f"{due}: no worker sends anything; start one")
        raise RuntimeError(f"{due}: the workers cannot keep up")
    return f"due for {max(0.0, age.total_seconds()):.1f} s"


def jobs() -> str:
    """Say when each succeeded last; that nobody runs any is told by `scheduler`."""
    now, reports = timezone.now(), scheduled.job_reports()
    if troubles := list(filter(None, (report.trouble(now) for report in reports))):
        raise RuntimeError("; ".join(troubles))
    return "last success: " + ", ".join(report.last_success(now) for report in reports)


def outgoing_proxy() -> str:
    """Whether deliveries get out (decision N23)."""
    return proxy_as_loops_find_it()


def weeks_ahead() -> str:
    if troubles := partitions.partition_troubles():
        raise RuntimeError(f"{'; '.join(troubles)}: run manage.py migrate, or start a worker")
    fewest = min(state.weeks_ahead for state in partitions.partition_states())
    return f"partitions for {fewest} weeks ahead"


CHECKS = (
    database,
    database_disk,
    migrations,
    broker,
    scheduler,
    oldest_due_delivery,
    outgoing_proxy,
    jobs,
    weeks_ahead,
)
