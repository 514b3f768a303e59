"""GET /schema matches the service: every endpoint, body, answer, refusal and payload."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from openapi_spec_validator import validate
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.api.authentication import BearerToken
from companies.api.views import CompanyView
from companies.models import Company
from config.door.front import TOO_SLOW
from config.door.refusals import write_error
from core.data import locks
from deliveries import publishing
from deliveries.http.answers import Reply
from deliveries.models import Delivery, LoggedAttempt
from deliveries.on_demand import sample_delivery
from shipments.models import TrackingUpdate
from tests import builders as build
from tests.conftest import signed_in
from tests.described import (
    Operation,
    code_of,
    conforms,
    description,
    examples,
    has_headers,
    operation,
    operations,
    schema,
)
from tickets.models import Comment, Document, HistoryEntry, RequestedDocument, Ticket
from tickets.statuses import By, Status
from webhooks.models import Webhook

METHODS = ("get", "post", "put", "delete", "patch")
EVERY = [pytest.param(each, id=str(each)) for each in operations()]


@dataclass
class Stock:
    """One of everything that a path can name, for the caller and for a stranger."""

    api: APIClient
    ids: dict[str, dict[str, Any]]

    def send(
        self, operation: Operation, body: Any = None, owner: str = "acme", **headers: str
    ) -> Any:
        ids = self.ids[owner]
        path = operation.path.format(**ids | ids.get(str(operation), {}))
        body_options = {} if body is None else {"data": body}
        return getattr(self.api, operation.method)(path, headers=headers, **body_options)


@pytest.fixture
def stock(company: Company, birch: Company, monkeypatch: pytest.MonkeyPatch) -> Stock:
    reply = Reply(None, 200, None, "", b"", 12, None)
    monkeypatch.setattr(sample_delivery, "send_one", lambda *_, **__: reply)
    return Stock(signed_in(company), {"acme": owned(company, 4101), "birch": owned(birch, 9)})


def owned(company: Company, shipment_id: int) -> dict[str, Any]:
    now = timezone.now()
    shipment = build.shipment(company, shipment_id, carrier_id=3, delivered_at=now)
    TrackingUpdate.objects.create(shipment=shipment, digest=b"1", status="Lost", occurred_at=now)
    of_shipment = {"shipment_id": shipment.pk, "carrier_id": 3, "data": '{"a":1}'}
    ticket = build.ticket(company, status=Status.IN_REVIEW, **of_shipment)
    Document.objects.create(ticket=ticket, position=0, field_id="rfc", type="input", value="x")
    requested = RequestedDocument.objects.create(ticket=ticket, name="Invoice", created_at=now)
    build.file(company, ticket=ticket, requested_document=requested)
    # The example of attachEvidence names this id.
    build.file(company, id=100_000 + shipment_id)
    HistoryEntry.objects.create(ticket=ticket, by=By.COMPANY, now=1, created_at=now)
    for by in (By.COMPANY, By.AGENT):
        Comment.objects.create(ticket=ticket, by=by, text="hello", status=6, created_at=now)
    webhook = build.webhook(company, auth_token="tok-1234")
    publishing.publish([build.news(company, shipment_id)])
    delivery = Delivery.objects.get(webhook=webhook)
    LoggedAttempt.objects.create(
        delivery=delivery, number=1, started_at=now, duration_ms=5, url=webhook.url, answer=b"no"
    )
    # The example of openPortal names this id.
    build.ticket(company, id=200_000 + shipment_id)
    decided = build.ticket(company, type_id=2, status=Status.ACCEPTED)
    declined = build.ticket(company, type_id=2, status=Status.DECLINED)
    return {
        "ticket_id": ticket.pk,
        "shipment_id": shipment.pk,
        "webhook_id": webhook.pk,
        "delivery_id": delivery.pk,
        "rateTicket": {"ticket_id": decided.pk},
        "tracking_number": shipment.tracking_number,
        "appealTicket": {"ticket_id": declined.pk},
    }


def test_the_description_is_valid() -> None:
    call_command("spectacular", "--fail-on-warn", "--file", "/dev/null")
    validate(description())


def test_describes_exactly_the_endpoints_for_companies() -> None:
    served = {
        (re.sub(r"<\w+:(\w+)>", r"{\1}", path), method)
        for path, view in routes(get_resolver().url_patterns, "/")
        if issubclass(view, CompanyView)
        for method in METHODS
        if hasattr(view, method)
    }

    assert {(each.path, each.method) for each in operations()} == served


def routes(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, type]]:
    for pattern in patterns:
        path = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        else:
            yield path, getattr(pattern.callback, "view_class", object)


@pytest.mark.parametrize("operation", EVERY)
def test_does_what_the_description_shows(stock: Stock, operation: Operation) -> None:
    """Accept every example of a body as it stands; the answer must have the documented shape."""
    response = operation.responses["200"]

    for body in operation.bodies() or [None]:
        answer = stock.send(operation, body)

        assert answer.status_code == 200, answer.json()
        conforms(answer.json(), schema(response))
        has_headers(answer, response)


@pytest.mark.parametrize("operation", EVERY)
def test_shows_examples_of_the_shape_it_tells(operation: Operation) -> None:
    responses = [operation.responses["200"], *operation.refusals.values()]

    for part in [*responses, operation.spec["requestBody"]] if operation.takes_body else responses:
        for example in examples(part).values():
            conforms(example, schema(part))


def wrong(stock: Stock, operation: Operation, *_: Any) -> Any:
    return stock.send(operation, {"colour": "red"})


def anonymous(stock: Stock, operation: Operation, *_: Any) -> Any:
    return Stock(APIClient(), stock.ids).send(operation)


def own_delivery(
    stock: Stock, operation: Operation, patch: pytest.MonkeyPatch, settings: Settings
) -> Any:
    return stock.send(operation, **{"User-Agent": settings.DELIVERY_USER_AGENT})


def foreign(stock: Stock, operation: Operation, *_: Any) -> Any:
    if str(operation) == "openPortal":
        return stock.send(operation, {"ticket_id": stock.ids["birch"]["ticket_id"]})
    return stock.send(operation, *operation.bodies()[:1], owner="birch")


def conflicting(stock: Stock, operation: Operation, patch: pytest.MonkeyPatch, _: Settings) -> Any:
    if not operation.idempotent:
        return in_use(stock, operation)
    patch.setattr(locks, "try_key", lambda *_: False)
    return stock.send(operation, {}, **{"Idempotency-Key": "one"})


def in_use(stock: Stock, operation: Operation) -> Any:
    """Use another webhook's URL: without a key only a change of a webhook conflicts."""
    webhook = Webhook.objects.get(pk=stock.ids["acme"]["webhook_id"])
    other = build.webhook(webhook.company, url=f"{webhook.url}/other")
    return stock.send(operation, {"url": other.url})


def large(stock: Stock, operation: Operation, *_: Any) -> Any:
    brings_a_file = "multipart/form-data" in operation.spec["requestBody"]["content"]
    return stock.send(operation, {"x": "x" * 2**20 * (15 if brings_a_file else 1)})


def undecodable(stock: Stock, operation: Operation, *_: Any) -> Any:
    headers = {"Content-Encoding": "gzip", "Content-Type": "text/plain"}
    return stock.send(operation, {}, **headers)


def bad_key(stock: Stock, operation: Operation, *_: Any) -> Any:
    return stock.send(operation, {}, **{"Idempotency-Key": "é"})


def too_many(stock: Stock, operation: Operation, _: Any, settings: Settings) -> Any:
    limits = settings.RATE_LIMITS
    settings.RATE_LIMITS = dict.fromkeys(limits, 0)
    answer = stock.send(operation)
    settings.RATE_LIMITS = limits
    return answer


def away(stock: Stock, operation: Operation, patch: pytest.MonkeyPatch, _: Settings) -> Any:
    def fail(*_: object) -> None:
        raise OperationalError("connection refused")

    patch.setattr(BearerToken, "authenticate", fail)
    return stock.send(operation)


def late(stock: Stock, operation: Operation, _: object, __: object) -> Any:
    """Return the event loop's response, before Django gets the request."""
    output = bytearray()
    outlet = SimpleNamespace(sendall=output.extend)
    write_error(
        outlet, 408, "Request Timeout", TOO_SLOW, SimpleNamespace(path=operation.path, headers=())
    )
    head, _, body = bytes(output).partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    answer = HttpResponse(body, status=int(status.split()[1]))
    for line in lines:
        name, _, answer[name] = line.partition(": ")
    answer.json = lambda: json.loads(body)
    return answer


def unusable(
    stock: Stock, operation: Operation, patch: pytest.MonkeyPatch, settings: Settings
) -> Any:
    """Send a bad key if it is read; otherwise use a full ticket, or a webhook of a lost secret."""
    if operation.idempotent:
        return bad_key(stock, operation, patch, settings)
    if operation.path == "/company/tickets/{ticket_id}":
        settings.COMMENTS_PER_TICKET = 0
        return stock.send(operation, {"ticket_status_id": 5, "comments": "Once more."})
    if "{ticket_id}" in operation.path:
        Ticket.objects.update(status=Status.ACCEPTED)
        return stock.send(operation, *operation.bodies()[:1])
    webhook = Webhook.objects.get(pk=stock.ids["acme"]["webhook_id"])
    publishing.publish([build.news(webhook.company)])
    with connection.cursor() as cursor:
        lose = "UPDATE webhooks_webhook SET secret = 'lost', url = '' WHERE id = %s"
        cursor.execute(lose, [webhook.pk])
    return stock.send(operation)


def expired(stock: Stock, operation: Operation, *_: Any) -> Any:
    return stock.send(operation, {"after": "1-1"})


PROVOKE: dict[str, Callable[[Stock, Operation, pytest.MonkeyPatch, Settings], Any]] = {
    "400": wrong,
    "401": anonymous,
    "403": own_delivery,
    "404": foreign,
    "408": late,
    "409": conflicting,
    "410": expired,
    "413": large,
    "415": undecodable,
    "422": unusable,
    "429": too_many,
    "503": away,
}


@pytest.mark.parametrize("operation", EVERY)
def test_refuses_as_it_tells(
    stock: Stock, operation: Operation, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    for status, response in sorted(operation.refusals.items()):
        with transaction.atomic(), monkeypatch.context() as patch:
            answer = PROVOKE[status](stock, operation, patch, settings)

        assert str(answer.status_code) == status, answer.json()
        conforms(answer.json(), schema(response))
        assert code_of(answer.json()) in map(code_of, examples(response).values())
        has_headers(answer, response)


@pytest.mark.parametrize("operation", EVERY)
def test_tells_of_every_refusal_that_any_endpoint_can_make(operation: Operation) -> None:
    expected = {"401", "403", "429", "503"}
    expected |= {"400", "408", "413", "415"} if operation.takes_body else set()
    # A request for an unknown number gets an empty list.
    expected |= {"404"} if re.search(r"{\w+_id}", operation.path) else set()
    expected |= {"409", "422"} if operation.idempotent else set()

    assert expected <= operation.responses.keys()


def test_tells_a_duplicate_as_it_is_answered(stock: Stock) -> None:
    opening = operation("openTicket")

    answer = stock.send(opening, {"type_id": 3, "shipment_id": 4101})

    assert answer.status_code == 409
    conforms(answer.json(), schema(opening.responses["409"]))
    assert answer.json().keys() == examples(opening.responses["409"])["DuplicateTicket"].keys()
