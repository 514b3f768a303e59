"""Errors that are reported to Sentry, and those that are not."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import signing
from django.db import IntegrityError
from django.test import Client
from pytest_django import Settings

from core.watch import request_ids
from core.watch.process_kinds import ProcessKind
from tests.canary import Canaries
from tickets.api import serving

pytest.importorskip("sentry_sdk", reason="requirements-tracing.txt is not installed")

import sentry_sdk
from sentry_sdk.transport import Transport

from core.watch import error_reports

SECRET = "canary-0123456789"


class MemoryTransport(Transport):
    """Collects envelopes instead of sending them."""

    def __init__(self) -> None:
        super().__init__()
        self.envelopes: list[bytes] = []

    def capture_envelope(self, envelope: Any) -> None:
        self.envelopes.append(envelope.serialize())


@pytest.fixture
def transport(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryTransport]:
    settings.SENTRY_DSN = "https://key@sentry.example.com/7"
    monkeypatch.setattr(error_reports, "at_process_end", lambda work: None)
    monkeypatch.setattr(ProcessKind, "name", "engine")
    transport = MemoryTransport()
    error_reports.begin_reporting(transport=transport)
    yield transport
    sentry_sdk.get_client().close()
    sentry_sdk.get_global_scope().set_client(None)


def report(transport: MemoryTransport) -> Any:
    """Return the only event that was sent."""
    sentry_sdk.flush()
    (envelope,) = transport.envelopes
    return json.loads(envelope.splitlines()[2])


def fail_with_secrets() -> None:
    token = SECRET
    headers = {"Authorization": f"Bearer {token}"}
    raise IntegrityError(f"null value in a column\nDETAIL:  Failing row contains ({headers})")


def test_an_error_is_reported_without_what_is_nobody_s_business(transport: MemoryTransport) -> None:
    canaries = Canaries()
    canaries.add("API token", SECRET)
    sentry_sdk.set_user({"email": SECRET})
    sentry_sdk.set_context("request", {"headers": SECRET})
    sentry_sdk.add_breadcrumb(message=SECRET)

    with request_ids.request_scope("order-7"):
        try:
            fail_with_secrets()
        except IntegrityError:
            logging.getLogger("companies").exception(
                "cannot write:\n%s", SECRET, extra={"request": SECRET}
            )

    event = report(transport)
    canaries.look("Sentry", transport.envelopes[0])
    assert canaries.leaks() == set()
    assert event["tags"] == {"process": "engine", "request_id": "order-7"}
    assert event["logentry"] == {"message": "cannot write:"}
    (raised,) = event["exception"]["values"]
    assert (raised["type"], raised["value"]) == ("IntegrityError", "null value in a column")
    frame = raised["stacktrace"]["frames"][-1]
    assert (frame["function"], "vars" in frame) == ("fail_with_secrets", False)
    assert event["environment"] == "test"


def test_an_address_that_opens_a_file_is_not_reported(
    db: None, transport: MemoryTransport, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = signing.dumps(7, salt=serving.SALT)
    client.raise_request_exception = False

    def fail(signed: str, **_: object) -> None:
        raise RuntimeError(f"cannot read {signed!r} of (/files/{signed})")

    monkeypatch.setattr(signing, "loads", fail)
    assert client.get(f"/files/{signed}").status_code == 500

    event = report(transport)
    assert event["logentry"] == {"message": "Internal Server Error: /files/…"}
    assert event["exception"]["values"][-1]["value"] == "cannot read '…' of (/files/…)"
    assert signed.encode() not in transport.envelopes[0]


def test_expected_failures_are_not_reported(transport: MemoryTransport, client: Client) -> None:
    logging.getLogger("companies").warning("odd, and no more")
    assert client.get("/webhooks", headers={"host": "stranger.example"}).status_code == 400
    sentry_sdk.flush()

    assert transport.envelopes == []
