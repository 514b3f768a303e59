"""Effects that a bad input may leave: the `check` column of bad-inputs.jsonl, as code."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes

from django.contrib.auth import get_user_model
from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from companies.models import Company
from deliveries.http.transport import Request
from deliveries.models import Delivery, Event
from shipments.models import Incidence, Shipment, Surcharge, TrackingUpdate
from tests.corpora import BadInput
from tickets.models import (
    Appeal,
    Comment,
    Document,
    HistoryEntry,
    IncidenceLink,
    Rating,
    RequestedDocument,
    Ticket,
    TicketFile,
    UnfinishedFile,
)
from tickets.statuses import Status
from webhooks.models import Webhook

Table = dict[Any, dict[str, Any]]
Answer = HttpResponse

TABLES: tuple[type[Model], ...] = (
    Company,
    Webhook,
    Event,
    Delivery,
    Ticket,
    Comment,
    Document,
    HistoryEntry,
    IncidenceLink,
    Rating,
    Appeal,
    Shipment,
    TrackingUpdate,
    Surcharge,
    Incidence,
    RequestedDocument,
    TicketFile,
    UnfinishedFile,
)
FOREIGN_NUMBER = "BIRCH0000077"
FOREIGN_CARRIER = "birch's carrier"


@dataclass
class World:
    """Two companies and one of everything that the marks of the corpus name."""

    company: Company
    birch: Company
    ticket: Ticket
    marks: dict[str, object]
    outgoing: list[Request] = field(default_factory=list)
    before: dict[type[Model], Table] = field(default_factory=dict)

    def send(self, row: BadInput) -> Answer:
        return send_raw(row.filled(self.marks))

    def new(self, model: type[Model]) -> Table:
        """Return the rows that the request has added."""
        return {pk: row for pk, row in table(model).items() if pk not in self.before[model]}


def state() -> dict[type[Model], Table]:
    return {model: table(model) for model in TABLES}


def table(model: type[Model]) -> Table:
    return {row["pk"]: row for row in model.objects.values("pk", *columns(model))}


def columns(model: type[Model]) -> list[str]:
    return [column.attname for column in model._meta.concrete_fields]


def send_raw(row: BadInput) -> Answer:
    """Send it as a web server would: the path percent-decoded, bytes as Latin-1."""
    path, _, query = row.path.partition("?")
    environ = {
        "REQUEST_METHOD": row.method,
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(row.body)),
        "wsgi.input": BytesIO(row.body),
    }
    for name, value in row.headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    return Client(raise_request_exception=False).request(**environ)


def nothing_changed(world: World, row: BadInput, answer: Answer) -> None:
    if row.method == "DELETE" and answer.status_code == 200:
        # Allow the deletion that decision W7 adds to the interface: this webhook alone.
        world.before[Webhook].pop(world.marks["W"])
        assert world.before[Webhook].items() <= table(Webhook).items()
        return
    assert state() == world.before


def nothing_deleted(world: World, row: BadInput, answer: Answer) -> None:
    assert world.before[Ticket].keys() <= table(Ticket).keys()


def nothing_sent(world: World, row: BadInput, answer: Answer) -> None:
    assert world.outgoing == []


def reads_like_missing(world: World, row: BadInput, answer: Answer) -> None:
    missing = world.send(row._replace(path=row.path.replace("{T_OTHER}", "{T_MISSING}")))
    assert (answer.status_code, answer.content) == (missing.status_code, missing.content)


def new_ticket_is_normal(world: World, row: BadInput, answer: Answer) -> None:
    if answer.status_code == 200:
        (ticket,) = world.new(Ticket).values()
        assert ticket["id"] == answer.json()["id"]
        assert ticket["status"] == Status.PENDING
        assert ticket["company_id"] == world.company.pk
        assert ticket["agent_id"] is None


def foreign_shipment_stays_hidden(world: World, row: BadInput, answer: Answer) -> None:
    if answer.status_code != 200:
        return
    assert not IncidenceLink.objects.exists()
    (ticket_id,) = world.new(Ticket)
    page = world.send(row._replace(method="GET", path=f"/company/tickets/{ticket_id}", body=b""))
    (ticket,) = page.json()["data"]
    assert (ticket["tracking_number"], ticket["carrier"]) == (None, None)
    for secret_text in (FOREIGN_NUMBER, FOREIGN_CARRIER, "birch's trouble"):
        assert secret_text not in page.content.decode()


def foreign_shipment_is_not_sent(world: World, row: BadInput, answer: Answer) -> None:
    assert FOREIGN_CARRIER not in answer.content.decode()
    for request in world.outgoing:
        payload = json.loads(request.body)
        assert payload["data"]["carrier_name"] == "sample"
        assert payload["data"]["shipment_id"] != 77


def lists_own_webhooks(world: World, row: BadInput, answer: Answer) -> None:
    if answer.status_code == 200:
        assert [webhook["id"] for webhook in answer.json()["data"]] == [world.marks["W"]]


def says_duplicate(world: World, row: BadInput, answer: Answer) -> None:
    assert answer.json()["message"] == "A ticket has already been created for this shipment."


def desk_page(ticket_id: int) -> str:
    """Return the page of a ticket as an agent sees it."""
    desk = Client()
    desk.force_login(get_user_model().objects.create_superuser("root"))
    page = desk.get(reverse("admin:tickets_ticket_change", args=[ticket_id]))
    assert page.status_code == 200
    return page.content.decode()


def comment_reads_back(world: World, row: BadInput, answer: Answer) -> None:
    if answer.status_code != 200:
        return
    text = json.loads(row.body)["comment"]
    path = f"/company/tickets/comments/{world.ticket.pk}"
    comments = world.send(row._replace(method="GET", path=path, body=b""))
    assert [comment["description"] for comment in comments.json()["data"]] == [text]
    assert "<" not in text or text not in desk_page(world.ticket.pk)


def document_is_plain_text_at_the_desk(world: World, row: BadInput, answer: Answer) -> None:
    if answer.status_code == 200:
        (document,) = world.new(Document).values()
        assert document["value"].startswith(("http://", "https://"))
        assert f'href="{document["value"]}"' not in desk_page(document["ticket_id"])
        assert world.outgoing == []


def ticket_keeps(*names: str) -> Callable[[World, BadInput, Answer], None]:
    def fields_are_kept(world: World, row: BadInput, answer: Answer) -> None:
        before, now = world.before[Ticket][world.ticket.pk], table(Ticket)[world.ticket.pk]
        assert {name: before[name] for name in names} == {name: now[name] for name in names}

    return fields_are_kept


def pending_stays(world: World, row: BadInput, answer: Answer) -> None:
    assert table(Ticket)[world.marks["T_PENDING"]]["status"] == Status.PENDING


def foreign_tickets_stay(world: World, row: BadInput, answer: Answer) -> None:
    before, now = world.before[Ticket], table(Ticket)
    assert all(before[pk] == now[pk] for pk in before)


CHECKS: dict[str, Callable[[World, BadInput, Answer], None]] = {
    "nothing changed": nothing_changed,
    "no ticket was deleted": nothing_deleted,
    "no ticket was made": nothing_changed,
    "no comment was added": nothing_changed,
    "that webhook is unchanged": nothing_changed,
    "url is unchanged (all or nothing)": nothing_changed,
    "the old variables are kept": ticket_keeps("data"),
    "type, company and id are unchanged": ticket_keeps("type_id", "company_id", "id"),
    "status is still 1": pending_stays,
    "no foreign ticket is touched": foreign_tickets_stay,
    "no request left the service": nothing_sent,
    "no connection was made to it": nothing_sent,
    "same status and body as for {T_MISSING}": reads_like_missing,
    "if 200, the ticket is Pending, owned by the token's company, with a fresh id and a normal"
    " agent": new_ticket_is_normal,
    "if 200, the ticket belongs to the token's company": new_ticket_is_normal,
    "no data of that shipment or its incidence is shown or linked": foreign_shipment_stays_hidden,
    "no data of that shipment is in the answer or in what was sent": foreign_shipment_is_not_sent,
    "the list holds only the token's company's webhooks": lists_own_webhooks,
    "message is 'A ticket has already been created for this shipment.'": says_duplicate,
    "if 200, it reads back unchanged and is escaped where shown": comment_reads_back,
    "if 200, the admin shows it as text, not as a link; nothing is fetched": (
        document_is_plain_text_at_the_desk
    ),
}
