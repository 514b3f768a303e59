"""Checks of `doctor` for what every product relies on; `core.health` has those of the servers."""

import os
import shutil
import time
from datetime import timedelta
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.checks import run_checks
from django.core.mail import get_connection
from django.utils import timezone

from core.data.database import rows_of
from core.data.reencryption import take_census
from core.files import storage
from core.health import postgresql  # noqa: F401 - registers its own, before those of this module
from core.health.broker import broker, broker_memory
from core.jobs.failing_rows import count_failed_rows
from core.jobs.job import job_reports
from core.retention import all_kinds
from core.watch.checks import SETTINGS, problem_line
from core.watch.doctor import Concern, graded, register
from core.watch.readiness import part

# Grace before a week that should have been dropped is reported.
LATE_WEEK = timedelta(days=2)
MAIL_SECONDS = 5.0
MAIL_MAY_WAIT = timedelta(minutes=30)
MOST_COUNTED = 1_000
LATE_MAIL = """
SELECT count(*) FROM (SELECT FROM core_mail WHERE created_at < %s LIMIT %s) AS counted
"""
LITTLE_ROOM, NO_ROOM = 1024**3, 64 * 1024**2
# A million secrets take half a minute; `reencrypt --dry-run` looks at all of them.
CENSUS_SECONDS = 10.0


register(
    "Start the broker, give it room, or correct BROKER_URL; deliveries go on meanwhile.",
    per_host=True,
)(part()(broker))
register(
    "Raise the broker's maxmemory, and set its maxmemory-policy to noeviction; what RabbitMQ lacks"
    " stands in rabbitmqctl status."
)(broker_memory)


@register(
    "Change these settings; docs/operating.md has all of them.", name="settings", per_host=True
)
def settings_are_safe() -> str:
    problems = run_checks(tags=[SETTINGS])
    lines = "; ".join(problem_line(each).removeprefix("- ") for each in problems)
    if any(each.is_serious() for each in problems):
        raise RuntimeError(lines)
    if problems:
        raise Concern(lines)
    return "safe"


@register("Set DATA_DIR to a folder that we may write to, on a disk with room.", per_host=True)
def disk() -> str:
    folder = settings.DATA_DIR
    if not os.access(folder, os.W_OK | os.X_OK):
        raise RuntimeError(f"{folder} is no folder that we may write to")
    free = shutil.disk_usage(folder).free
    detail = f"{free // 1024**2} MiB free in {folder}"
    return graded(detail, broken=free < NO_ROOM, doubtful=free < LITTLE_ROOM)


@register("Look in the worker's log for why the job fails.")
@part()
def jobs() -> str:
    """Report when each job last succeeded; `scheduler` reports that none are run at all."""
    now, reports = timezone.now(), job_reports()
    if troubles := list(filter(None, (report.trouble(now) for report in reports))):
        raise RuntimeError("; ".join(troubles))
    return "last success: " + ", ".join(report.last_success(now) for report in reports)


@register("Look in the worker's log for why forget_what_is_old fails, or run manage.py prune.")
def retention() -> str:
    """Look for whole weeks that should have been dropped."""
    old: list[str] = []
    periods = []
    for kind in all_kinds().values():
        if kind.old_weeks:
            days = settings.KEEP_DAYS[kind.name]
            periods.append(f"{kind.name} for {f'{days} days and a week' if days else 'ever'}")
            if days:
                old += kind.old_weeks(timezone.now() - timedelta(days=days) - LATE_WEEK)
    if old:
        raise Concern(f"{len(old)} weeks should have been dropped, the oldest {min(old)}")
    return f"kept at most: {', '.join(periods)}"


@register("Start the mail server, or correct EMAIL_HOST and what stands beside it.", per_host=True)
def mail_server() -> str:
    """Connect and log in, but send nothing."""
    if not settings.EMAIL_HOST:
        return "none is named; emails are printed"
    opened: Any = get_connection(timeout=min(MAIL_SECONDS, settings.EMAIL_TIMEOUT))
    try:
        opened.open()
    finally:
        opened.close()
    return f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT} takes our login"


@register("Look in the worker's log for what the mail server says, and at the check mail_server.")
def emails() -> str:
    ((count,),) = rows_of(LATE_MAIL, timezone.now() - MAIL_MAY_WAIT, MOST_COUNTED)
    if count:
        more = "+" if count == MOST_COUNTED else ""
        raise Concern(f"{count}{more} have waited for more than {MAIL_MAY_WAIT}")
    return "none has waited for long"


@register(
    "Put the key that is missing back behind the others in FIELD_KEYS, or have the companies set"
    " new secrets; then run manage.py reencrypt.",
    seconds=CENSUS_SECONDS + 5,
    # With a million secrets a census takes ten seconds of a core.
    minutes=15,
)
def secrets() -> str:
    deadline = time.monotonic() + CENSUS_SECONDS
    census = take_census(lambda text: None, lambda: time.monotonic() > deadline)
    if census.unreadable:
        rows = ", ".join(census.unreadable_rows)
        raise RuntimeError(f"no key in FIELD_KEYS opens {census.unreadable}: {rows}")
    if census.outdated:
        raise Concern(f"{census.outdated} are encrypted with an older key: run manage.py reencrypt")
    scope = ", as far as there was time to look" if time.monotonic() > deadline else ""
    return f"the newest key opens all {sum(census.by_key)}{scope}"


@register(
    "Start the server of CACHE_URL; until then rate limits count nothing.",
    name="cache",
    per_host=True,
)
def counts_requests() -> str:
    mark = token_hex(8)
    cache.set("doctor", mark, timeout=60)
    if cache.get("doctor") != mark:
        raise RuntimeError("does not give back what was written")
    return "takes and gives back"


@register(
    "Correct FILES_DIR, or FILE_STORAGE and FILE_STORAGE_OPTIONS.", name="files", per_host=True
)
def takes_files() -> str:
    """Write a small file, read it back and remove it."""
    mark = token_hex(8).encode()
    name = storage.write_file(storage.new_file_name(), mark)
    try:
        if storage.read_file(name) != mark:
            raise RuntimeError("the storage does not give back what was written")
    finally:
        storage.remove_file(name)
    return "the storage takes files and gives them back"


@register("Look under Failed rows at the desk for what each fails on; they are tried at each run.")
def failed_rows() -> str:
    if counts := sorted(count_failed_rows().items()):
        raise Concern(", ".join(f"{rows} of {job}" for job, rows in counts))
    return "there are none"
