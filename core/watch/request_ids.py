"""The id of the request at work: in its answer, in its log lines, in what it writes. Pure.

Commands and runs of tasks have one as well (decision page config-a-request-has-an-id).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

HEADER = "X-Request-Id"
# Of a message that rings for a task.
CELERY_HEADER = "request_id"
LONGEST = 128
GIVEN = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST}}}")

at_work: ContextVar[str | None] = ContextVar("request_id", default=None)


def begin_request(given: str = "") -> str:
    """From now on this request is at work. Its id is the caller's own where it may be, else new."""
    request_id = accepted(given) or new()
    at_work.set(request_id)
    return request_id


def accepted(given: str) -> str:
    """What a caller has sent as its id; empty where it may not be one."""
    return given if GIVEN.fullmatch(given) else ""


def new() -> str:
    return uuid4().hex


def current() -> str | None:
    """The id of the request, command or task at work; None where none is, as in engine loops."""
    return at_work.get()


def end_request() -> None:
    at_work.set(None)


@contextmanager
def named(given: str = "") -> Iterator[str]:
    """While a request is at work."""
    before = at_work.get()
    try:
        yield begin_request(given)
    finally:
        at_work.set(before)
