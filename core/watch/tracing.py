"""Traces by OpenTelemetry, sent to the collector of OTEL_EXPORTER_OTLP_ENDPOINT.

Its packages are those of requirements-tracing.txt: nothing else imports this module. Nobody waits
for a collector: spans wait in a bounded queue, a thread of its own sends them, and what does not
fit or cannot be sent is dropped.
Why none of OpenTelemetry's instrumentations: decision page config-spans-are-our-own.
"""

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from core.watch import request_ids
from core.watch.process_kinds import ProcessKind, at_process_end
from core.watch.traces import TRACEPARENT, Fact, Facts, Tracer, trace_with

logger = logging.getLogger(__name__)

# Time for one batch, and for all that is left when a process ends.
SECONDS = 2.0
# OpenTelemetry's names of facts; the others are ours.
NAMES = {
    "method": "http.request.method",
    "route": "http.route",
    "path": "url.path",
    "status": "http.response.status_code",
    "host": "server.address",
    "error": "error.type",
    "task": "messaging.destination.name",
}
W3C = TraceContextTextMapPropagator()


class OpenTelemetryTracer(Tracer):
    """Tracer that creates its provider, and with it a thread, in each process that traces."""

    pid = 0

    def start(
        self, name: str, kind: str, parent: str | None, facts: Facts, began: datetime | None = None
    ) -> trace.Span:
        if self.pid != os.getpid():
            self.sender = BatchSpanProcessor(Exporter())
            provider = TracerProvider(resource=resource(), shutdown_on_exit=False)
            provider.add_span_processor(self.sender)
            self.maker = provider.get_tracer(settings.PRODUCT, settings.VERSION)
            self.pid = os.getpid()
        return self.maker.start_span(
            name,
            context=W3C.extract({TRACEPARENT: parent}) if parent else None,
            kind=trace.SpanKind[kind.upper()],
            attributes=attributes(facts),
            start_time=nanoseconds(began) if began else None,
        )

    @contextmanager
    def span(
        self, name: str, *, kind: str = "internal", parent: str | None = None, **facts: Fact
    ) -> Iterator[None]:
        span = self.start(name, kind, parent, facts)
        # Messages of exceptions are left out: they may hold secrets.
        with trace.use_span(
            span, end_on_exit=True, record_exception=False, set_status_on_exception=False
        ):
            try:
                yield
            except BaseException:
                span.set_status(trace.StatusCode.ERROR)
                raise

    def describe(self, name: str, *, failed: bool, **facts: Fact) -> None:
        span = trace.get_current_span()
        span.update_name(name)
        span.set_attributes(attributes(facts))
        if failed:
            span.set_status(trace.StatusCode.ERROR)

    def record(
        self, name: str, parent: str, began: datetime, seconds: float, failed: bool, facts: Facts
    ) -> None:
        span = self.start(name, "client", parent, facts, began)
        if failed:
            span.set_status(trace.StatusCode.ERROR)
        span.end(nanoseconds(began + timedelta(seconds=seconds)))

    def current_parent(self) -> str | None:
        headers: dict[str, str] = {}
        W3C.inject(headers)
        return headers.get(TRACEPARENT)

    def end(self) -> None:
        """Send what is left, without a long wait for a collector that does not answer."""
        if self.pid == os.getpid():
            thread = threading.Thread(target=self.sender.shutdown, daemon=True)
            thread.start()
            thread.join(SECONDS)


class Exporter(OTLPSpanExporter):
    """OTLP exporter that logs an outage of the collector once, not with each lost batch."""

    def __init__(self) -> None:
        endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT.rstrip("/")
        super().__init__(f"{endpoint}/v1/traces", timeout=SECONDS)
        self.away = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if (result is SpanExportResult.FAILURE) != self.away:
            self.away = not self.away
            if self.away:
                logger.warning("the collector of traces does not take them; they are dropped")
            else:
                logger.info("the collector takes traces again")
        return result


def resource() -> Resource:
    return Resource.create(
        {
            "service.name": settings.PRODUCT,
            "service.version": settings.VERSION,
            "deployment.environment.name": settings.ENVIRONMENT,
            "parceldesk.process": ProcessKind.name,
        }
    )


def attributes(facts: Facts) -> dict[str, str | int]:
    """Map facts to the names that a collector knows, and add the id of the current request."""
    all_facts = {"request_id": request_ids.current(), **facts}
    return {
        NAMES.get(name, f"parceldesk.{name}"): value
        for name, value in all_facts.items()
        if value is not None
    }


def nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1000


def begin_tracing() -> None:
    tracer = OpenTelemetryTracer()
    trace_with(tracer)
    at_process_end(tracer.end)
