"""Traces by OpenTelemetry, sent to the collector of OTEL_EXPORTER_OTLP_ENDPOINT.

Its packages are those of requirements-tracing.txt: nothing else imports this module. Nobody waits
for a collector: spans wait in a bounded queue, a thread of its own sends them, and what does not
fit, or finds nobody, is dropped.
"""

import logging
import os
import threading
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)

from core.watch import traces
from core.watch.process_kinds import ProcessKind, at_process_end
from core.watch.traces import Facts

logger = logging.getLogger(__name__)

# Of one batch, and of all that is left when a process ends.
SECONDS = 2.0
# What OpenTelemetry has a name for; the others are ours.
NAMES = {
    "method": "http.request.method",
    "route": "http.route",
    "path": "url.path",
    "status": "http.response.status_code",
    "host": "server.address",
    "error": "error.type",
    "task": "messaging.destination.name",
}


class OpenedSpan:
    """Companies.traces' of one of OpenTelemetry's."""

    def __init__(self, span: Span) -> None:
        self.span = span
        context = span.get_span_context()
        self.traceparent = (
            f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
        )

    def rename(self, name: str) -> None:
        self.span.update_name(name)

    def add(self, facts: Facts) -> None:
        for name, value in facts.items():
            if value is not None:
                self.span.set_attribute(NAMES.get(name, f"parceldesk.{name}"), value)

    def fail(self) -> None:
        # No words: an exception's may hold what nobody else is to read.
        self.span.set_status(StatusCode.ERROR)

    def close(self, ended_at: datetime | None = None) -> None:
        self.span.end(nanoseconds(ended_at))


class OpenTelemetryTracer:
    """Makes its provider, and with it a thread, in each process that has something to trace."""

    def __init__(self) -> None:
        self.pid = 0

    def maker(self) -> Tracer:
        if self.pid != os.getpid():
            self.sending = BatchSpanProcessor(Exporter())
            provider = TracerProvider(resource=resource(), shutdown_on_exit=False)
            provider.add_span_processor(self.sending)
            self.made = provider.get_tracer(settings.PRODUCT, settings.VERSION)
            self.pid = os.getpid()
        return self.made

    def open(
        self,
        name: str,
        *,
        kind: str,
        parent: str | None,
        facts: Facts,
        started_at: datetime | None = None,
    ) -> OpenedSpan:
        opened = OpenedSpan(
            self.maker().start_span(
                name,
                context=set_span_in_context(NonRecordingSpan(context_of(parent))),
                kind=SpanKind[kind.upper()],
                start_time=nanoseconds(started_at),
            )
        )
        opened.add(facts)
        return opened

    def end(self) -> None:
        """Send what is left. A collector that does not answer is not waited for."""
        if self.pid == os.getpid():
            sender = threading.Thread(target=self.sending.shutdown, daemon=True)
            sender.start()
            sender.join(SECONDS)


class Exporter(SpanExporter):
    """OpenTelemetry's, which would log each batch that it loses: here it is said once."""

    def __init__(self) -> None:
        endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip("/")
        self.sender = OTLPSpanExporter(f"{endpoint}/v1/traces", timeout=SECONDS)
        self.away = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self.sender.export(spans)
        except Exception:  # whatever it is, it concerns traces alone
            result = SpanExportResult.FAILURE
        if (result is SpanExportResult.FAILURE) != self.away:
            self.away = not self.away
            if self.away:
                logger.warning("the collector of traces does not take them; they are dropped")
            else:
                logger.info("the collector takes traces again")
        return result

    def shutdown(self) -> None:
        self.sender.shutdown()  # type: ignore[no-untyped-call]


def resource() -> Resource:
    return Resource.create(
        {
            "service.name": settings.PRODUCT,
            "service.version": settings.VERSION,
            "deployment.environment.name": settings.ENVIRONMENT,
            "parceldesk.process": ProcessKind.name,
        }
    )


def context_of(traceparent: str | None) -> SpanContext:
    """An invalid one, below which a trace begins, where there is no parent."""
    if traceparent is None:
        return SpanContext(0, 0, is_remote=False)
    _, trace_id, span_id, flags = traceparent.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), True, TraceFlags(int(flags, 16)))


def nanoseconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp() * 1_000_000) * 1000


def begin_tracing() -> None:
    tracer = OpenTelemetryTracer()
    traces.trace_with(tracer)
    at_process_end(tracer.end)
