"""Traces: sent by OTLP to a collector of the test's own, from the call to the attempt."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpResponse
from django.test import RequestFactory
from pytest_django import Settings

from config import celery, log_checks
from config.access_log import AccessLines
from config.request_traces import RequestSpans
from core.watch import traces
from core.watch.checks import SETTINGS
from deliveries.tasks import run_job

pytest.importorskip("opentelemetry.sdk", reason="requirements-tracing.txt is not installed")


from config import tracing
from tests.config.collecting import Collector, collecting, facts

GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


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
    with traces.span("outer", kind="server", parent=GIVEN), traces.span("inner", ticket_id=7):
        pass
    with traces.span("alone"):
        pass

    outer, inner, alone = collected()
    assert outer.trace_id.hex() == inner.trace_id.hex() == GIVEN.split("-")[1]
    assert outer.parent_span_id.hex() == GIVEN.split("-")[2]
    assert inner.parent_span_id == outer.span_id
    assert facts(inner) == {"parceldesk.ticket_id": 7}
    assert (alone.parent_span_id, alone.trace_id == outer.trace_id) == (b"", False)
    assert traces.current_parent() is None


def test_what_is_over_has_its_own_times(collected: Callable[[], list[Any]]) -> None:
    began = datetime(2026, 1, 2, tzinfo=UTC)

    traces.record_call(
        "attempt",
        parent=GIVEN,
        started_at=began,
        ended_at=began + timedelta(seconds=2),
        failed=True,
        facts={"error": "timeout", "status": None},
    )

    (span,) = collected()
    assert span.start_time_unix_nano == int(began.timestamp()) * 10**9
    assert span.end_time_unix_nano - span.start_time_unix_nano == 2 * 10**9
    assert span.status.code == span.status.STATUS_CODE_ERROR
    assert facts(span) == {"error.type": "timeout"}


def test_what_the_caller_does_not_sample_is_not_sent(collected: Callable[[], list[Any]]) -> None:
    with traces.span("unsampled", parent=GIVEN[:-2] + "00"):
        assert (traces.current_parent() or "").endswith("-00")

    assert collected() == []


@pytest.mark.parametrize("given", ["", "00-0-0-01", GIVEN.upper(), GIVEN + "\n", f"00-{'0' * 32}-"])
def test_what_is_no_traceparent_is_left_aside(given: str) -> None:
    assert traces.accepted_parent(given) is None
    assert traces.accepted_parent(GIVEN) == GIVEN


def test_an_exception_s_words_stay_here(collected: Callable[[], list[Any]]) -> None:
    with pytest.raises(ValueError, match="secret"), traces.span("fails"):
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

    # Whatever other tests have said of it in the last seconds.
    own = [each for each in caplog.records if not hasattr(each, "of_flood")]
    said = [each.getMessage() for each in own if each.name == "config.tracing"]
    away = "the collector of traces does not take them; they are dropped"
    assert said == [away, "the collector takes traces again", away]


def test_requests_are_traced_only_where_somebody_collects() -> None:
    with pytest.raises(MiddlewareNotUsed):
        RequestSpans(lambda _: HttpResponse())


def test_probes_have_no_span(collected: Callable[[], list[Any]]) -> None:
    answer = RequestSpans(AccessLines(lambda _: HttpResponse()))

    for path in ("/healthz", "/webhooks"):
        answer(RequestFactory().get(path, headers={"traceparent": GIVEN}))

    (span,) = collected()
    assert facts(span)["url.path"] == "/webhooks"
    assert span.trace_id.hex() == GIVEN.split("-")[1]


def test_a_task_joins_the_trace_of_who_rang(collected: Callable[[], list[Any]]) -> None:
    @celery.app.task(name="tests.traced")
    def traced() -> None:
        with traces.span("inside"):
            pass

    traced.apply(headers={"traceparent": GIVEN, "request_id": "order-7"})

    task, inside = collected()
    assert (task.name, task.trace_id.hex()) == ("tests.traced", GIVEN.split("-")[1])
    assert facts(task)["parceldesk.request_id"] == "order-7"
    assert inside.parent_span_id == task.span_id


def test_a_job_that_is_rung_for_has_a_span_of_its_name(
    db: None, collected: Callable[[], list[Any]]
) -> None:
    run_job.apply(["sweep"], headers={"traceparent": GIVEN, "request_id": "order-7"})

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

    (found,) = [each for each in run_checks(tags=[SETTINGS]) if each.id == id]
    assert "requirements-tracing.txt" in str(found.hint)
