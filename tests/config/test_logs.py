"""Log lines as JSON, the line of each request, and the request id that tasks inherit."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from celery import current_app, shared_task
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from config import access_log, celery
from config.door import refusals
from core.jobs import doorbell
from core.watch import log_bound, log_lines, request_ids
from core.watch.process_kinds import ProcessKind
from core.watch.url_secrets import shown_path
from deliveries import publishing
from desk.live.polling import ADDRESS
from tests import builders as build
from tests.config.test_settings import variables
from tests.test_architecture import LINE, ROOT, sources

OWN = "order-7.A_b"
DOCUMENT = ROOT / "docs" / "operations" / "logs.md"


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Capture standard error, with lines as JSON."""
    stream = io.StringIO()
    (handler,) = [
        each
        for each in logging.getLogger().handlers
        if isinstance(each.formatter, log_lines.TextLines)
    ]
    monkeypatch.setattr(handler, "stream", stream)
    monkeypatch.setattr(handler, "formatter", log_lines.formatter("json"))
    return stream


def lines(stderr: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stderr.getvalue().splitlines()]


def test_a_line_is_one_object_whatever_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProcessKind, "name", "engine")
    logger, stream = logging.Logger("companies"), io.StringIO()
    logger.addHandler(logging.StreamHandler(stream))
    logger.handlers[0].setFormatter(log_lines.formatter("json"))
    logger.handlers[0].addFilter(log_lines.name_request)

    try:
        raise ValueError("two\nlines, \ud800 and \u2028")
    except ValueError:
        with request_ids.request_scope(OWN):
            logger.exception("cannot \u202e\n%s", "go on", extra={"company_id": 7, "request": "x"})

    (line,) = lines(stream)
    assert stream.getvalue().isascii()
    at = datetime.fromisoformat(line.pop("time"))
    assert at.utcoffset() is not None
    assert line.pop("exception").endswith("ValueError: two\nlines, \ud800 and \u2028")
    assert line.pop("pid") > 0
    assert line == {
        "level": "ERROR",
        "logger": "companies",
        "message": "cannot \u202e\ngo on",
        "request_id": OWN,
        "process": "engine",
        "company_id": 7,
    }


def test_the_document_has_every_member_of_a_line() -> None:
    section = DOCUMENT.read_text().partition("\n## Log fields\n")[2]
    table = section.partition("\n| logger |")[0]
    rows = [row.split("|")[1].strip(" `") for row in table.splitlines() if row.startswith("| `")]
    record = logging.LogRecord("companies", logging.INFO, __file__, 1, "said", None, None)
    try:
        raise ValueError
    except ValueError as error:
        record.exc_info = (ValueError, error, error.__traceback__)
    for name in log_lines.FIELDS:
        setattr(record, name, "x")

    assert rows == list(json.loads(log_lines.formatter("json").format(record)))


def test_somebody_writes_each_member() -> None:
    code = "".join(
        path.read_text() for app in LINE for path in sources(app) if path.name != "log_lines.py"
    )

    assert [name for name in log_lines.FIELDS if f'"{name}": ' not in code] == []


def test_celery_says_things_our_way_and_at_our_level() -> None:
    program = (
        "import logging; from config.celery import app; app.log.setup(loglevel='ERROR');"
        "logging.getLogger('celery.worker').warning('late'); logging.getLogger('x').info('said')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=variables(DJANGO_SETTINGS_MODULE="config.settings", LOG_FORMAT="json"),
        capture_output=True,
        text=True,
        check=True,
    )

    lines = [json.loads(line) for line in ran.stderr.splitlines()]
    assert [(line["level"], line["message"]) for line in lines] == [
        ("WARNING", "late"),
        ("INFO", "said"),
    ]


def test_each_request_has_a_line(
    stderr: io.StringIO, api: APIClient, company: Company, settings: Settings
) -> None:
    settings.PROXY_COUNT = 1
    headers = {"X-Request-Id": OWN, "X-Forwarded-For": "1.2.3.4, 198.51.100.7"}

    answer = api.get("/webhooks?limit=5", headers=headers)

    (line,) = [each for each in lines(stderr) if each["logger"] == "parceldesk.access"]
    assert line.pop("duration_ms") >= 0
    assert {name: line.get(name) for name in log_lines.FIELDS if line.get(name) is not None} == {
        "method": "GET",
        "route": "/webhooks",
        "path": "/webhooks",
        "status": 200,
        "bytes": len(answer.content),
        "address": "198.51.100.7",
        "company_id": company.pk,
        "token": company.tokens.get().prefix,
    }
    assert (line["level"], line["request_id"]) == ("INFO", OWN)
    assert "limit" not in stderr.getvalue()


def test_a_line_says_the_route_and_no_text_that_opens_something(
    stderr: io.StringIO, client: Client, db: None
) -> None:
    delivery_id = uuid4()

    client.get(f"/deliveries/{delivery_id}")
    client.get("/files/7:1tkYaz:Jq7mJq2nKqX4lXo0b9v")
    client.get(f"/nowhere/{'x' * 40}/at-all")
    client.get("/guide/TEST%0A2026-01-02 ERROR")
    client.get("/guide/TEST4101")

    assert [(line.get("route"), line["path"]) for line in lines(stderr)] == [
        ("/deliveries/<uuid:delivery_id>", f"/deliveries/{delivery_id}"),
        ("/files/<str:signed>", "/files/…"),
        (None, "/nowhere/…/at-all"),
        ("/guide/<text:tracking_number>", "/guide/…"),
        ("/guide/<text:tracking_number>", "/guide/TEST4101"),
    ]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", ADDRESS, "/static/x.css"])
def test_probes_and_scrapes_have_no_access_log_line(
    stderr: io.StringIO, client: Client, db: None, path: str
) -> None:
    client.get(path)
    client.get("/nowhere")

    assert [line["path"] for line in lines(stderr) if "path" in line] == ["/nowhere"]


def test_early_refusal_has_a_line_of_bounded_length(
    stderr: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = log_bound.LogBound(log_bound.REFUSALS.logger.name)
    monkeypatch.setattr(refusals, "REFUSALS", bound)

    for _ in range(log_bound.MOST_LINES + 1):
        refusals.write_error(SimpleNamespace(sendall=bytes), 429, "Too Many Requests", "Token x")

    line, *others = lines(stderr)
    assert (line["status"], line["message"]) == (429, "answered at the door: 429 Too Many Requests")
    assert len(line["request_id"]) == 32
    assert len(others) == log_bound.MOST_LINES - 1
    assert bound.left_out == {"answered 429": 1}


def test_user_in_the_access_log_costs_no_query(
    stderr: io.StringIO, client: Client, django_assert_num_queries: Any, db: None
) -> None:
    client.cookies["sessionid"] = "0" * 32

    with django_assert_num_queries(0):
        client.get("/docs/guides")

    assert len(lines(stderr)) == 1


def test_the_lines_can_be_switched_off(settings: Settings) -> None:
    settings.ACCESS_LOG = False

    with pytest.raises(MiddlewareNotUsed):
        access_log.AccessLines(lambda _: HttpResponse())


def test_a_file_s_address_is_hidden_whatever_its_length() -> None:
    assert shown_path(reverse("signed_file", args=["7:abc"])) == "/files/…"


@shared_task(name="tests.say_who_asks")
def say_who_asks() -> None:
    logging.getLogger("companies").warning("at work")


def ring(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Send a task; returns the headers of its message."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(current_app, "send_task", lambda *_, headers, **__: calls.append(headers))
    doorbell.ring("tests.say_who_asks")
    return calls[0]


def test_a_task_works_for_the_request_that_rang(
    stderr: io.StringIO, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    with request_ids.request_scope(OWN):
        headers = ring(monkeypatch)

    say_who_asks.apply(headers=headers)

    assert [line["request_id"] for line in lines(stderr)] == [OWN]
    assert (request_ids.current(), celery.running) == (None, {})


def test_a_task_that_nobody_s_request_rang_for_has_an_id_of_its_own(
    stderr: io.StringIO, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    headers = ring(monkeypatch)

    for _ in range(2):
        say_who_asks.apply(headers=headers)

    one, other = (line["request_id"] for line in lines(stderr))
    assert len(one) == 32
    assert one != other


def test_an_event_s_lists_say_its_request(api: APIClient, company: Company) -> None:
    webhook = build.webhook(company)
    with request_ids.request_scope(OWN):
        publishing.publish([build.news(company)])

    (row,) = api.get(f"/webhooks/{webhook.pk}/deliveries").json()["data"]
    assert row["request_id"] == OWN
