"""Every request has an id: on its answer, in its log lines, in what it writes.

Why: decision page config-a-request-has-an-id.
"""

import io
import logging
import runpy
from collections.abc import Iterator

import pytest
from django.test import Client
from rest_framework.test import APIClient

from companies.api.authentication import BearerToken
from companies.models import Company
from config import logs
from config.command_settings import Commands
from core.watch import log_lines, request_ids
from deliveries import publishing
from deliveries.models import Delivery, Event
from tests import builders as build
from tests.test_architecture import ROOT
from tickets.models import HistoryEntry, Ticket

OWN = "order-7.A_b"
NEW = r"^[0-9a-f]{32}$"
EVERYWHERE = [
    "/webhooks",
    "/ship/generaltrack/",
    "/nowhere",
    "/healthz",
    "/schema",
    "/docs",
    "/",
    "/admin/",
    "/admin/login/",
    "/static/nothing.css",
]


@pytest.mark.parametrize("path", EVERYWHERE)
def test_every_answer_has_an_id(client: Client, db: None, path: str) -> None:
    one, other = client.get(path), client.delete(path)

    assert one["X-Request-Id"] != other["X-Request-Id"]
    assert client.get(path, headers={"X-Request-Id": OWN})["X-Request-Id"] == OWN


def test_an_answer_to_a_foreign_host_name_has_one_too(client: Client, db: None) -> None:
    answer = client.get("/webhooks", headers={"Host": "evil.example", "X-Request-Id": OWN})

    assert (answer.status_code, answer["X-Request-Id"]) == (400, OWN)


@pytest.mark.parametrize("header", ["", "a b", "a/b", "é", "a" * 129, "a\tb", "<b>", "a,b"])
def test_invalid_id_is_replaced(client: Client, header: str) -> None:
    answer = client.get("/healthz", headers={"X-Request-Id": header})

    assert len(answer["X-Request-Id"]) == 32
    assert client.get("/healthz", headers={"X-Request-Id": "a" * 128})["X-Request-Id"] == "a" * 128


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Capture log lines that go to standard error."""
    stderr = io.StringIO()
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, log_lines.TextLines):
            monkeypatch.setattr(handler, "stream", stderr)
    return stderr


def test_its_log_lines_name_it(lines: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        logging.getLogger("companies").warning("about to fail")
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(BearerToken, "authenticate", fail)

    APIClient(raise_request_exception=False).get("/webhooks", headers={"X-Request-Id": OWN})
    logging.getLogger("companies").warning("nobody's")

    ours = [line for line in lines.getvalue().splitlines() if "[" in line.partition(" File")[0]]
    assert [line.partition("[")[2].partition(" 500 ")[0] for line in ours] == [
        f"{OWN}] about to fail",
        f"{OWN}] Internal Server Error: /webhooks",
        f"{OWN}] GET /webhooks",
        "-] nobody's",
    ]


def test_gunicorn_s_lines_name_it_too() -> None:
    logger, stream = logging.getLogger("gunicorn.of.a.test"), io.StringIO()
    logger.addHandler(logging.StreamHandler(stream))
    logs.write_our_lines(logger.name, "text")

    with request_ids.request_scope(OWN):
        logger.warning("Invalid request")

    assert f"gunicorn.of.a.test [{OWN}] Invalid request" in stream.getvalue()


def test_a_request_that_is_over_is_at_work_no_more(client: Client) -> None:
    client.get("/healthz", headers={"X-Request-Id": OWN})

    assert request_ids.current() is None


def test_history_keeps_the_request_that_caused_it(api: APIClient, admin_client: Client) -> None:
    opened = api.post("/company/tickets", {"type_id": 2}, headers={"X-Request-Id": OWN})
    ticket = Ticket.objects.get(pk=opened.json()["id"])

    # Include side effects: the assignment has the same id.
    assert set(HistoryEntry.objects.values_list("request_id", flat=True)) == {OWN}
    page = admin_client.get(f"/admin/tickets/ticket/{ticket.pk}/change/")
    assert f"Request {OWN}" in page.content.decode()


def test_an_event_keeps_the_request_that_caused_it(
    api: APIClient, admin_client: Client, company: Company
) -> None:
    build.webhook(company)
    with request_ids.request_scope(OWN):
        publishing.publish([build.news(company)])
    delivery = Delivery.objects.get()

    assert api.get(f"/deliveries/{delivery.pk}").json()["data"]["request_id"] == OWN
    page = admin_client.get(f"/admin/deliveries/delivery/{delivery.pk}/change/")
    assert OWN in page.content.decode()


def test_event_without_a_request_names_none(api: APIClient, company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])

    assert Event.objects.get().request_id is None
    row = api.get(f"/deliveries/{Delivery.objects.get().pk}").json()["data"]
    assert row["request_id"] is None


def test_a_command_has_one_as_well(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    current_ids = []
    monkeypatch.setattr(Commands, "execute", lambda _: current_ids.append(request_ids.current()))

    with request_ids.request_scope():
        runpy.run_path(str(ROOT / "manage.py"), run_name="__main__")

    assert len(current_ids[0]) == 32
