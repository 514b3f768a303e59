"""Traces, where somebody collects them; elsewhere everything here does nothing. Pure.

A span is something that took time: a request, a run of a task, an attempt. Spans of one trace name
each other by a W3C traceparent, which goes with messages, and with events into the database. What
makes and sends them is given by `trace_with` (config.tracing).
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Protocol

# Of a request, and of a message that rings for a task.
TRACEPARENT = "traceparent"
WELL_FORMED = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")

at_work: ContextVar[str | None] = ContextVar("traceparent", default=None)

Facts = Mapping[str, str | int | None]


class OpenSpan(Protocol):
    """What is being traced."""

    traceparent: str

    def rename(self, name: str) -> None: ...
    def add(self, facts: Facts) -> None: ...
    def fail(self) -> None: ...
    def close(self, ended_at: datetime | None = None) -> None: ...


class Tracer(Protocol):
    """Whoever makes spans and sends them, in a thread of its own: nothing here waits."""

    def open(
        self,
        name: str,
        *,
        kind: str,
        parent: str | None,
        facts: Facts,
        started_at: datetime | None = None,
    ) -> OpenSpan: ...


class Chosen:
    """Of this process, and of what it forks."""

    tracer: Tracer | None = None


def trace_with(tracer: Tracer | None) -> None:
    Chosen.tracer = tracer


def are_on() -> bool:
    return Chosen.tracer is not None


def current_parent() -> str | None:
    """The traceparent of the span at work; None where nothing is traced."""
    return at_work.get()


def accepted_parent(given: str) -> str | None:
    """What a caller has sent as its traceparent; None where it is none."""
    return given if WELL_FORMED.fullmatch(given) else None


@contextmanager
def span(
    name: str, *, kind: str = "internal", parent: str | None = None, **facts: str | int | None
) -> Iterator[OpenSpan | None]:
    """While something is at work, below `parent` or else below what was at work before.

    `kind` is one of OpenTelemetry's. An exception that gets out makes it a failure.
    """
    if Chosen.tracer is None:
        yield None
        return
    opened = Chosen.tracer.open(name, kind=kind, parent=parent or current_parent(), facts=facts)
    before = at_work.set(opened.traceparent)
    try:
        yield opened
    except BaseException:
        opened.fail()
        raise
    finally:
        at_work.reset(before)
        opened.close()


def record_call(
    name: str,
    *,
    parent: str | None,
    started_at: datetime,
    ended_at: datetime,
    failed: bool,
    facts: dict[str, Any],
) -> None:
    """A request of ours to somebody else, which is over."""
    if Chosen.tracer is None:
        return
    opened = Chosen.tracer.open(
        name, kind="client", parent=parent, facts=facts, started_at=started_at
    )
    if failed:
        opened.fail()
    opened.close(ended_at)
