"""Traces, where somebody collects them; elsewhere everything here does nothing. Pure.

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
    """Tracer of a process whose spans nobody collects. Another one is given to `trace_with`.

    A `kind` is one of OpenTelemetry's. A `parent` that is no traceparent counts as none. Nothing
    here waits or raises.
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
        """Trace a request of ours to somebody else, which is over."""

    def current_parent(self) -> str | None:
        """Return the traceparent of the span at work; None where nothing is traced."""
        return None


tracer = Tracer()


def trace_with(another: Tracer) -> None:
    """Use it from now on in this process, and in processes that it forks."""
    global tracer
    tracer = another
