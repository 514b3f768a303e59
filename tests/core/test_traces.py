"""Traces: sent by OTLP to the test's collector, from the call to the attempt."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import get_ident
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpResponse
from django.test import RequestFactory
from pytest_django import Settings

from config import celery
from config.access_log import AccessLines
from config.request_traces import RequestSpans
from core.jobs.forking import fork_into
from core.watch import log_checks, request_ids, traces
from core.watch.checks import SETTINGS
from deliveries.tasks import run_job

pytest.importorskip("opentelemetry.sdk", reason="requirements-tracing.txt is not installed")


from core.watch import tracing
from tests.core.collecting import Collector, collecting, facts

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        yield collector


@pytest.fixture
def collected(collector: Collector, settings: Settings) -> Iterator[Callable[[], list[Any]]]:
    with collecting(collector, settings) as collected:
        yield collected


def test_spans_lie_in_each_other_and_in_the_caller_s_trace(
    collected: Callable[[], list[Any]],
) -> None:
    span = traces.tracer.span
    request = request_ids.request_scope("order-7")
    with request, span("outer", kind="server", parent=PARENT), span("inner", ticket_id=7):
        pass
    with span("alone"):
        pass

    outer, inner, alone = collected()
    assert outer.trace_id.hex() == inner.trace_id.hex() == PARENT.split("-")[1]
    assert outer.parent_span_id.hex() == PARENT.split("-")[2]
    assert inner.parent_span_id == outer.span_id
    assert facts(inner) == {"parceldesk.ticket_id": 7, "parceldesk.request_id": "order-7"}
    assert (alone.parent_span_id, alone.trace_id == outer.trace_id) == (b"", False)
    assert traces.tracer.current_parent() is None


def test_recorded_span_has_its_own_times(collected: Callable[[], list[Any]]) -> None:
    began = datetime(2026, 1, 2, tzinfo=UTC)

    outcome = {"error": "timeout", "status": None}
    traces.tracer.record("attempt", PARENT, began, 2, failed=True, facts=outcome)

    (span,) = collected()
    assert span.start_time_unix_nano == int(began.timestamp()) * 10**9
    assert span.end_time_unix_nano - span.start_time_unix_nano == 2 * 10**9
    assert span.status.code == span.status.STATUS_CODE_ERROR
    assert facts(span) == {"error.type": "timeout"}


def test_unsampled_trace_is_not_sent(collected: Callable[[], list[Any]]) -> None:
    with traces.tracer.span("unsampled", parent=PARENT[:-2] + "00"):
        assert (traces.tracer.current_parent() or "").endswith("-00")

    assert collected() == []


def test_operators_say_how_many_requests_are_sampled(
    collected: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0")

    with traces.tracer.span("unsampled", parent=PARENT):
        pass

    assert collected() == []


@pytest.mark.parametrize(
    "parent", ["", "00-0-0-01", PARENT.upper(), f"00-{'0' * 32}-{'0' * 16}-01"]
)
def test_invalid_traceparent_is_ignored(collected: Callable[[], list[Any]], parent: str) -> None:
    answer = RequestSpans(lambda _: HttpResponse())

    answer(RequestFactory().get("/webhooks", headers={"traceparent": parent}))

    (span,) = collected()
    assert span.parent_span_id == b""


def test_a_forked_process_sends_its_own_spans(collected: Callable[[], list[Any]]) -> None:
    def trace_in_child() -> None:
        with traces.tracer.span("child"):
            pass
        # The child's span must reach the collector before the parent goes on.
        collected()

    with traces.tracer.span("before"):
        pass
    os.waitpid(fork_into(trace_in_child), 0)
    with traces.tracer.span("after"):
        pass

    assert [span.name for span in collected()] == ["before", "child", "after"]


def test_a_process_does_not_wait_for_a_collector_that_is_silent(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "SECONDS", 0.2)
    # Each span is a batch with its own timeout: together they may take far more than two seconds.
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
    tracer = tracing.OpenTelemetryTracer()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.OTEL_EXPORTER_OTLP_ENDPOINT = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        for _ in range(50):
            with tracer.span("unheard"):
                pass
        assert time.monotonic() - began < 0.2
        tracer.end()

    assert time.monotonic() - began < 2


def test_exception_text_is_not_exported(collected: Callable[[], list[Any]]) -> None:
    with pytest.raises(ValueError, match="secret"), traces.tracer.span("fails"):
        raise ValueError("a secret")

    (span,) = collected()
    assert span.status.code == span.status.STATUS_CODE_ERROR
    assert b"secret" not in span.SerializeToString()


def test_a_collector_that_is_away_is_said_once_and_stops_nobody(
    collector: Collector, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
    exporter = tracing.Exporter()

    for status in (400, 400, 200, 400):
        collector.status = status
        exporter.export([])

    # Other tests may have logged the same line within the last seconds, and threads that they have
    # left may still do so.
    here = [each for each in caplog.records if each.thread == get_ident()]
    own = [each for each in here if not hasattr(each, "of_flood")]
    messages = [each.getMessage() for each in own if each.name == "core.watch.tracing"]
    away = "the collector of traces does not take them; they are dropped"
    assert messages == [away, "the collector takes traces again", away]


def test_requests_are_traced_only_where_somebody_collects() -> None:
    with pytest.raises(MiddlewareNotUsed):
        RequestSpans(lambda _: HttpResponse())


def test_probes_have_no_span(collected: Callable[[], list[Any]]) -> None:
    answer = RequestSpans(AccessLines(lambda _: HttpResponse()))

    for path in ("/healthz", "/webhooks"):
        answer(RequestFactory().get(path, headers={"traceparent": PARENT}))

    (span,) = collected()
    assert facts(span)["url.path"] == "/webhooks"
    assert span.trace_id.hex() == PARENT.split("-")[1]


@pytest.mark.parametrize(("status", "failed"), [(200, False), (404, False), (500, True)])
def test_failures_of_ours_are_failed_spans(
    collected: Callable[[], list[Any]], status: int, failed: bool
) -> None:
    answer = RequestSpans(lambda _: HttpResponse(status=status))

    answer(RequestFactory().get("/webhooks"))

    (span,) = collected()
    assert facts(span)["http.response.status_code"] == status
    assert (span.status.code == span.status.STATUS_CODE_ERROR) is failed


def test_task_joins_the_trace_of_its_sender(collected: Callable[[], list[Any]]) -> None:
    @celery.app.task(name="tests.traced")
    def traced() -> None:
        with traces.tracer.span("inside"):
            pass

    traced.apply(headers={"traceparent": PARENT, "request_id": "order-7"})

    task, inside = collected()
    assert (task.name, task.trace_id.hex()) == ("tests.traced", PARENT.split("-")[1])
    assert facts(task)["parceldesk.request_id"] == "order-7"
    assert inside.parent_span_id == task.span_id


def test_a_job_that_is_rung_for_has_a_span_of_its_name(
    db: None, collected: Callable[[], list[Any]]
) -> None:
    run_job.apply(["sweep"], headers={"traceparent": PARENT, "request_id": "order-7"})

    task, run = collected()
    assert (task.name, run.name) == ("deliveries.tasks.run_job", "sweep")
    assert run.parent_span_id == task.span_id


@pytest.mark.parametrize(
    ("name", "value", "id"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.internal:4318", "config.E042"),
        ("SENTRY_DSN", "https://key@sentry.example.com/7", "config.E043"),
    ],
)
def test_missing_packages_stop_a_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str, value: str, id: str
) -> None:
    setattr(settings, name, value)
    assert id not in [each.id for each in run_checks(tags=[SETTINGS])]

    monkeypatch.setattr(log_checks, "is_installed", lambda _: False)

    (message,) = [each for each in run_checks(tags=[SETTINGS]) if each.id == id]
    assert "requirements-tracing.txt" in str(message.hint)
