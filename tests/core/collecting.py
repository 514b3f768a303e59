"""A collector of traces that accepts OTLP over HTTP."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pytest_django import Settings

from core.watch import traces

pytest.importorskip("opentelemetry.sdk", reason="requirements-tracing.txt is not installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from core.watch import tracing


class Collector:
    """Accepts spans over HTTP; `status` is its response."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.status = 200
        self.request_count = 0
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.request_count += 1
                if collector.status == 200:
                    collector.take(self.path, body)
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, path: str, body: bytes) -> None:
        assert path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            names = {each.key: each.value.string_value for each in resource.resource.attributes}
            assert names["service.name"] == "parceldesk"
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]

    def __enter__(self) -> "Collector":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def collecting(collector: Collector, settings: Settings) -> Iterator[Callable[[], list[Any]]]:
    """Trace everything. Yields a function that ends this and returns the spans, earliest first."""
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
    tracer = tracing.OpenTelemetryTracer()
    traces.trace_with(tracer)

    def collected() -> list[Any]:
        tracer.end()
        return sorted(collector.spans, key=lambda span: span.start_time_unix_nano)

    yield collected
    tracer.end()
    traces.trace_with(traces.Tracer())


def facts(span: Any) -> dict[str, Any]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}
