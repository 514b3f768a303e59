"""The id of the request at work: in its answer, in its log lines, in what it writes. Pure.

Commands and runs of tasks have one as well (decision page config-a-request-has-an-id).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

HEADER = "X-Request-Id"
# Header of a doorbell's Celery message.
CELERY_HEADER = "request_id"
LONGEST = 128
VALID_ID = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST}}}")

at_work: ContextVar[str | None] = ContextVar("request_id", default=None)


def begin_request(caller_id: str = "") -> str:
    """Make a request current; return its id: the caller's own if it is valid, else a new one."""
    request_id = accepted(caller_id) or new()
    at_work.set(request_id)
    return request_id


def accepted(caller_id: str) -> str:
    """Return the caller's id, or "" if it is invalid."""
    return caller_id if VALID_ID.fullmatch(caller_id) else ""


def new() -> str:
    return uuid4().hex


def current() -> str | None:
    """Return the id of the current request, command or task; None without one (engine loops)."""
    return at_work.get()


def end_request() -> None:
    at_work.set(None)


@contextmanager
def request_scope(caller_id: str = "") -> Iterator[str]:
    """Make a request current within the block, and the previous one afterwards."""
    before = at_work.get()
    try:
        yield begin_request(caller_id)
    finally:
        at_work.set(before)
