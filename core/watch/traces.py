"""Traces, if a collector is set; otherwise everything here does nothing. Pure.

A span is something that took time: a request, a run of a task, an attempt. Spans of one trace name
each other by a W3C traceparent, which goes with messages, and with events into the database.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

# Header of a request, and of a message that rings for a task.
TRACEPARENT = "traceparent"

Fact = str | int | None
Facts = Mapping[str, Fact]


class Tracer:
    """Tracer that does nothing. `trace_with` installs another one.

    A `kind` is one of OpenTelemetry's. An invalid `parent` counts as none. Nothing here waits or
    raises.
    """

    def span(
        self, name: str, *, kind: str = "internal", parent: str | None = None, **facts: Fact
    ) -> AbstractContextManager[None]:
        """Trace a block of code, below `parent` or else below the span at work.

        An exception that leaves the block makes it a failure.
        """
        return nullcontext()

    def describe(self, name: str, *, failed: bool, **facts: Fact) -> None:
        """Rename the span at work and add to it, once its outcome is known."""

    def record(
        self, name: str, parent: str, began: datetime, seconds: float, failed: bool, facts: Facts
    ) -> None:
        """Record a finished request of ours to another server."""

    def current_parent(self) -> str | None:
        """Return the traceparent of the span at work; None if nothing is traced."""
        return None


tracer = Tracer()


def trace_with(another: Tracer) -> None:
    """Use another tracer from now on, in this process and those that it forks."""
    global tracer
    tracer = another
