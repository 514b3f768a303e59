"""Checks of `doctor`: the parts that the service stands on and that no app owns."""

import os
import shutil
import stat
import time
from datetime import timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.checks import run_checks
from django.core.mail import get_connection
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections
from django.db.utils import ConnectionHandler
from django.utils import timezone

from config import (
    database_checks,  # noqa: F401 - registers its own, before those of this module
    env_files,
    health,
)
from config.host_traits import hosts_are_alike
from config.startup import load_checks, problem_line
from core.data.database import ENCODING, encoding_of
from core.watch.checks import SETTINGS
from core.watch.doctor import Concern, register
from deliveries.engine import holding
from deliveries.models import Replay
from deliveries.upkeep import pruning, replaying
from shipments.pruning import UPDATES

OLDEST_POSTGRESQL = 140_000
# For how long a week may still be there that should have been dropped.
LATE_WEEK = timedelta(days=2)
# By kinds of settings.KEEP_DAYS. Events are kept as long as any of their deliveries.
WEEKLY = {"deliveries": (pruning.ATTEMPTS, pruning.DELIVERIES), "tracking": (UPDATES,)}
# Receivers refuse timestamps that are minutes off.
SKEW_SECONDS, WRONG_SECONDS = 2.0, 60.0
MAIL_SECONDS = 5.0
NEARLY_FULL = 0.9
LITTLE_ROOM, NO_ROOM = 1024**3, 64 * 1024**2
INVALID_INDEXES = """
SELECT string_agg(indexrelid::regclass::text, ', ') FROM pg_index WHERE NOT indisvalid
"""


@register(
    "Change these settings; docs/operating.md has all of them.", name="settings", per_host=True
)
def settings_are_safe() -> str:
    load_checks()
    found = run_checks(tags=[SETTINGS])
    lines = "; ".join(problem_line(each).removeprefix("- ") for each in found)
    if any(each.is_serious() for each in found):
        raise RuntimeError(lines)
    if found:
        raise Concern(lines)
    return "safe"


@register("Let only the service's user read it: chmod 600.", name="env_file", per_host=True)
def env_file_is_private() -> str:
    path = env_files.env_file()
    if path is None:
        return "none: the variables come with the process"
    if path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        raise Concern(f"everybody on this host may read or change {path}, and the keys in it")
    return f"{path} is private"


@register(
    "Install a newer PostgreSQL, make the database with --encoding UTF8, or connect without what"
    " sets jit.",
    name="database",
)
def postgresql() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW jit")
        (jit,) = cursor.fetchone()
    version = connection.connection.info.server_version
    name = f"PostgreSQL {version // 10_000}.{version % 10_000}"
    if version < OLDEST_POSTGRESQL:
        raise RuntimeError(f"{name} is older than {OLDEST_POSTGRESQL // 10_000}")
    if (encoding := encoding_of(connection)) != ENCODING:
        raise RuntimeError(f"the database keeps texts in {encoding} instead of {ENCODING}")
    if jit != "off":
        raise RuntimeError(f"{name} compiles statements (jit is {jit}) on a connection of ours")
    return f"{name}, without JIT"


@register("Correct ENGINE_DATABASE_URL: it leads to the server itself.", per_host=True)
def engine_database() -> str:
    if not settings.ENGINE_DATABASE:
        return "the same as DATABASE_URL"
    patience = connections.settings[DEFAULT_DB_ALIAS].get("PATIENCE_SECONDS")
    own = {**settings.ENGINE_DATABASE, "PATIENCE_SECONDS": patience}
    direct = ConnectionHandler({DEFAULT_DB_ALIAS: own})[DEFAULT_DB_ALIAS]
    try:
        with direct.cursor() as cursor:
            cursor.execute("SELECT 1")
    except OperationalError as error:
        raise RuntimeError(str(error)) from error
    finally:
        direct.close()
    return "answers"


register(
    "Make room on the disk of PostgreSQL, or give it more: docs/operations/runbooks.md#disk-full."
)(health.database_disk)
register("Run manage.py migrate.")(health.migrations)
register(
    "Give all hosts the same variables, storage of files and version: docs/operations/growing.md.",
    name="hosts",
)(hosts_are_alike)


@register("Drop them with DROP INDEX CONCURRENTLY and run manage.py migrate again.")
def indexes() -> str:
    with connection.cursor() as cursor:
        cursor.execute(INVALID_INDEXES)
        (invalid,) = cursor.fetchone()
    if invalid:
        raise Concern(f"an interrupted migration left {invalid}")
    return "all are valid"


register(
    "Start the broker, give it room, or correct BROKER_URL; deliveries go on meanwhile.",
    name="broker",
    per_host=True,
)(health.broker)


@register(
    "Raise the broker's maxmemory, and set its maxmemory-policy to noeviction; what RabbitMQ lacks"
    " stands in rabbitmqctl status."
)
def broker_memory() -> str:
    """Compare what a Redis holds with its bound; RabbitMQ tells of an alarm when written to."""
    with current_app.connection_for_write() as link:
        if link.transport.driver_type == "amqp":
            health.broker()
            return "RabbitMQ has no alarm for memory or disk on"
        channel: Any = link.default_channel
        memory = channel.client.info("memory")
    used, most = int(memory["used_memory"]), int(memory.get("maxmemory") or 0)
    policy = memory.get("maxmemory_policy", "noeviction")
    if most and policy.startswith("allkeys"):
        raise Concern(f"its policy {policy} throws doorbells away; deliveries then start late")
    said = f"{used // 1024**2} MiB" + (f" of {most // 1024**2}" if most else ", without a bound")
    if most and used > NEARLY_FULL * most:
        raise Concern(said)
    return said


register("Start a worker: its scheduler runs the jobs.")(health.scheduler)
register("Look in the worker's log for why the job fails.")(health.jobs)
register(
    "Start a worker where none is alive (engine_loops); else raise DELIVERY_LOOPS and the number of"
    " workers, or look at PostgreSQL's load.",
)(health.oldest_due_delivery)
register("Run manage.py migrate, or restart a worker.", name="partitions")(health.weeks_ahead)


@register("Look in the worker's log for why forget_what_is_old fails, or run manage.py prune.")
def retention() -> str:
    old: list[str] = []
    kept = []
    for kind, logs in WEEKLY.items():
        days = settings.KEEP_DAYS[kind]
        kept.append(f"{kind} for {days} days and a week" if days else f"{kind} for ever")
        if days:
            before = timezone.now() - timedelta(days=days) - LATE_WEEK
            old += [week for log in logs for week in pruning.weeks_before(log, before)]
    if old:
        raise Concern(f"{len(old)} weeks should have been dropped, the oldest {min(old)}")
    return f"kept at most: {', '.join(kept)}"


@register("Have both hosts ask the same time server (NTP).", per_host=True)
def clock() -> str:
    """Of this host against the database's: signatures carry the one, retries follow the other."""
    with connection.cursor() as cursor:
        before = time.time()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        (theirs,) = cursor.fetchone()
        after = time.time()
    skew = theirs - (before + after) / 2
    # It was read at some moment of the call: a slow answer makes no clock wrong.
    at_least = abs(skew) - (after - before) / 2
    said = f"the database's is {abs(skew):.1f} s {'ahead' if skew > 0 else 'behind'}"
    if at_least >= WRONG_SECONDS:
        raise RuntimeError(said)
    if at_least >= SKEW_SECONDS:
        raise Concern(said)
    return said


@register("Start the mail server, or correct EMAIL_HOST and what stands beside it.", per_host=True)
def mail_server() -> str:
    """Connects and logs in; sends nothing."""
    if not settings.EMAIL_HOST:
        return "none is named; emails are printed"
    opened: Any = get_connection(timeout=min(MAIL_SECONDS, settings.EMAIL_TIMEOUT))
    try:
        opened.open()
    finally:
        opened.close()
    return f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT} takes our login"


@register("Set DATA_DIR to a folder that we may write to, on a disk with room.", per_host=True)
def disk() -> str:
    folder = settings.DATA_DIR
    if not os.access(folder, os.W_OK | os.X_OK):
        raise RuntimeError(f"{folder} is no folder that we may write to")
    free = shutil.disk_usage(folder).free
    said = f"{free // 1024**2} MiB free in {folder}"
    if free < NO_ROOM:
        raise RuntimeError(said)
    if free < LITTLE_ROOM:
        raise Concern(said)
    return said


@register("Look in the log of workers for why, or end it: manage.py redeliver --stop RUN.")
def replays() -> str:
    """Runs of deliveries that are sent again."""
    under_way = list(Replay.objects.filter(ended_at=None).order_by("pk"))
    for run in under_way:
        if replaying.stands_still(run) and not holding.current_drain():
            raise Concern(f"{run} has stood still since {run.moved_at:%Y-%m-%d %H:%M} UTC")
    return f"{len(under_way)} under way" if under_way else "none is under way"
