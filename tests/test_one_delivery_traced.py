"""A failing delivery, traced by the id of the call that caused it."""

import json
import logging
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from companies import services
from companies.models import Company
from core.watch import log_lines
from deliveries.models import Delivery
from tests import builders as build
from tests.core.collecting import Collector, collecting, facts
from tests.sending import deliver
from tickets.changes.ticket_updated import TICKET_UPDATED
from tools.faults.receiver import Answer, Receiver
from webhooks.targets import Policy

pytest.importorskip("opentelemetry.sdk", reason="requirements-tracing.txt is not installed")

OWN = "order-7"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def logged() -> Iterator[StringIO]:
    """Capture all log lines as JSON."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(log_lines.name_request)
    handler.setFormatter(log_lines.formatter("json"))
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def collected(settings: Settings) -> Iterator[Callable[[], list[Any]]]:
    with Collector() as collector, collecting(collector, settings) as collected:
        yield collected


def test_a_delivery_is_followed_from_the_call_to_the_attempt(
    company: Company,
    loopback: Policy,
    logged: StringIO,
    collected: Callable[[], list[Any]],
    admin_client: Client,
) -> None:
    # Create the client now, so that its middleware finds tracing switched on.
    api = APIClient(HTTP_AUTHORIZATION=f"Bearer {services.issue_token(company.pk)}")
    with Receiver() as receiver:
        receiver.answer = lambda _: Answer(status=500)
        webhook = build.webhook(company, TICKET_UPDATED.id, url=receiver.url)

        headers = {"X-Request-Id": OWN, "traceparent": CALLER}
        answer = api.post("/company/tickets", {"type_id": 2}, format="json", headers=headers)
        deliver(loopback)

    delivery = Delivery.objects.get()
    assert answer["X-Request-Id"] == OWN

    call, attempt = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert (call["logger"], call["request_id"]) == ("parceldesk.access", OWN)
    assert (call["route"], call["company_id"]) == ("/company/tickets", company.pk)
    assert (attempt["logger"], attempt["request_id"]) == ("parceldesk.attempts", OWN)
    assert (attempt["delivery_id"], attempt["status"]) == (str(delivery.pk), 500)
    assert attempt["webhook_id"] == webhook.pk

    page = admin_client.get("/admin/tickets/ticket/events/", {"request_id": OWN})
    assert str(delivery.pk) in page.content.decode()
    assert "Answered 500, not 2xx." in page.content.decode()
    rows = api.get(f"/webhooks/{webhook.pk}/deliveries").json()["data"]
    assert [row["request_id"] for row in rows] == [OWN]

    request, published, attempted = collected()[:3]
    assert {each.trace_id.hex() for each in (request, published, attempted)} == {
        CALLER.split("-")[1]
    }
    assert request.name == "POST /company/tickets"
    assert request.parent_span_id.hex() == CALLER.split("-")[2]
    for each in (request, published, attempted):
        assert facts(each)["parceldesk.request_id"] == OWN
    assert facts(request)["http.response.status_code"] == 200
    assert facts(request)["parceldesk.company_id"] == company.pk
    assert (published.name, published.parent_span_id) == ("publish", request.span_id)
    assert (attempted.name, attempted.parent_span_id) == ("attempt", published.span_id)
    assert facts(attempted)["parceldesk.delivery_id"] == str(delivery.pk)
    assert facts(attempted)["http.response.status_code"] == 500
    assert receiver.url.encode() not in attempted.SerializeToString()
