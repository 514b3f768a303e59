"""Registry of the checks of `manage.py doctor`: one for each part, with its cure.

An app registers its checks in a module `doctor_checks`. A check is a function that returns its
finding in a line. It raises Concern for what should be seen to, anything else for what is broken.
"""

import errno
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache, partial
from operator import contains
from threading import Condition, Thread
from typing import NamedTuple

from django.apps import apps
from django.db import InterfaceError, OperationalError, connections
from django.utils.module_loading import autodiscover_modules
from psycopg.errors import DiskFull

Examine = Callable[[], str]
# Default limit of a check.
SECONDS = 8.0
# Checks that begin at once: most take a database connection, which may be scarce, and opening one
# costs more than most checks. The others begin when one has ended, or after PATIENCE_SECONDS, as
# waiting for a check that hangs would hang too.
AT_ONCE = 6
PATIENCE_SECONDS = 1.0
NO_SPACE = "Make room on the disk of PostgreSQL."
NO_SPACE_ERROR = os.strerror(errno.ENOSPC)
DATABASE_AWAY = "Start PostgreSQL, or correct DATABASE_URL."


class Grade(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


# The grade as a number, for /metrics.
STATES = {Grade.OK: 0, Grade.WARN: 1, Grade.FAIL: 2}


class Concern(Exception):
    """It works, but needs attention; the message says why."""


def graded(detail: str, *, broken: bool, doubtful: bool) -> str:
    """Return the result of a check; raises RuntimeError or Concern with it."""
    if broken:
        raise RuntimeError(detail)
    if doubtful:
        raise Concern(detail)
    return detail


class Check(NamedTuple):
    """A check. `cure` is a sentence that says what to do, `seconds` its time limit.

    With `per_host` hosts may find different things. Workers run it every `minutes` minutes.
    """

    name: str
    examine: Examine
    cure: str
    seconds: float
    per_host: bool = False
    minutes: int = 1


class Finding(NamedTuple):
    name: str
    grade: Grade
    detail: str
    cure: str


registered: list[Check] = []


def register(
    cure: str,
    *,
    name: str = "",
    seconds: float = SECONDS,
    per_host: bool = False,
    minutes: int = 1,
) -> Callable[[Examine], Examine]:
    """Decorate a function that examines one part; the check has its name unless `name` is set."""

    def add(examine: Examine) -> Examine:
        check_name = name or examine.__name__
        registered.append(Check(check_name, examine, cure, seconds, per_host, minutes))
        return examine

    return add


@cache
def load_checks() -> None:
    """Have the modules `doctor_checks` of all apps register their checks."""
    autodiscover_modules("doctor_checks")


def all_checks() -> list[Check]:
    """Return the checks of core first, then those of the apps in order."""
    load_checks()
    return sorted(registered, key=lambda check: app_order(check.examine))


def app_order(examine: Examine) -> int:
    order = ["core", *(app.name for app in apps.get_app_configs())]
    return order.index(examine.__module__.partition(".")[0])


def examine_all(chosen: Sequence[Check], at_once: int = AT_ONCE) -> list[Finding]:
    """Run checks, a few at once, in threads that keep their connection for the next check.

    A check that hangs delays no other: each that has not begun after PATIENCE_SECONDS gets its own
    thread. A check that has not answered within its time counts as broken and is abandoned.
    """
    findings: dict[str, Finding] = {}
    waiting = deque(chosen)
    news = Condition()
    began = time.monotonic()

    def start(threads: int) -> None:
        for _ in range(threads):
            Thread(target=work_through, args=(waiting, findings, news), daemon=True).start()

    with news:
        start(min(at_once, len(chosen)))
        news.wait_for(lambda: not waiting, PATIENCE_SECONDS)
        start(len(waiting))
        for check in chosen:
            remaining = began + check.seconds - time.monotonic()
            news.wait_for(partial(contains, findings, check.name), max(0.0, remaining))
        return [findings.get(check.name) or silent(check) for check in chosen]


def work_through(waiting: deque[Check], findings: dict[str, Finding], news: Condition) -> None:
    """Run one check after the other of those that no thread has begun."""
    try:
        while waiting:
            with suppress(IndexError):  # another thread may be faster
                check = waiting.popleft()
                finding = examine(check)
                if finding.grade is Grade.FAIL:
                    # The connection may be what is broken.
                    connections.close_all()
                with news:
                    findings[check.name] = finding
                    news.notify_all()
    finally:
        connections.close_all()


def examine(check: Check) -> Finding:
    """Run one check in this thread, however long it takes."""
    try:
        return Finding(check.name, Grade.OK, check.examine(), "")
    except Concern as concern:
        return Finding(check.name, Grade.WARN, first_line(concern), check.cure)
    except (OperationalError, InterfaceError) as error:
        # The database failed, so the check's own cure does not help.
        # A server that was started without disk space refuses connections without a code.
        full = isinstance(error.__cause__, DiskFull) or NO_SPACE_ERROR in str(error)
        cure = NO_SPACE if full else DATABASE_AWAY
        return Finding(check.name, Grade.FAIL, first_line(error), cure)
    except Exception as error:  # the check reports whatever is wrong with its part
        return Finding(check.name, Grade.FAIL, first_line(error), check.cure)


def silent(check: Check) -> Finding:
    detail = f"has not answered for {check.seconds:g} s"
    return Finding(check.name, Grade.FAIL, detail, check.cure)


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
