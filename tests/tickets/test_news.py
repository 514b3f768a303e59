"""Events about a company's tickets: event type 6 (decision N5)."""

import json
from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from deliveries import publishing
from deliveries.models import Delivery, Event, SubjectKind
from tests import builders as build
from tests.conftest import signed_in
from tests.described import conforms
from tests.desk.forms import picked
from tests.tickets.racing import racers
from tickets import opening, updating, working
from tickets.assignment import reassigning, taking
from tickets.changes import news
from tickets.changes.actors import SYSTEM, Actor
from tickets.changes.history import record_history
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.changes.writes import add_comment, change_status
from tickets.history_codes import Kind, TicketChange
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import By, Status
from tickets.working import AgentReply

CALLER = Actor(By.COMPANY, "test")


def published_bodies(ticket: Ticket | None = None) -> list[dict[str, Any]]:
    """Return the published bodies in order; of one ticket, or of all."""
    events = Event.objects.filter(type_id=TICKET_UPDATED.id).order_by("pk")
    if ticket is not None:
        events = events.filter(ticket_id=ticket.pk)
    return [json.loads(bytes(event.body)) for event in events]


@pytest.fixture
def listening(company: Company) -> Company:
    """Return Acme with a webhook for its tickets."""
    build.webhook(company, TICKET_UPDATED.id)
    return company


@pytest.fixture
def lead(db: None) -> Agent:
    return build.agent("eve", group="lead", available=False)


def test_ticket_events_have_type_six_and_are_signed(api: APIClient) -> None:
    types = {each["id"]: each for each in api.get("/webhook-types").json()}

    response = api.post("/webhooks", {"type_id": 6, "url": "https://hooks.example.com/tickets"})

    assert types[6]["name"] == "ticket.updated"
    assert response.json()["data"]["type"] == "ticket.updated"
    assert response.json()["data"]["secret"]


def test_opened_ticket_is_published(api: APIClient, listening: Company) -> None:
    build.shipment(listening, 4101)

    fields = {"type_id": 5, "shipment_id": 4101, "comments": "It is crushed."}
    id = api.post("/company/tickets", fields).json()["id"]

    ticket, event = Ticket.objects.get(), Event.objects.get()
    conforms(published_bodies()[0], TICKET_UPDATED.schema)
    at = ticket.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert (
        bytes(event.body).decode()
        == f'{{"type":"ticket.updated","created_at":"{at}","data":{{"ticket_id":{id},'
        '"ticket_type_id":5,"ticket_type_name":"damaged","ticket_status_id":1,'
        '"ticket_status_name":"pending","previous_status_id":null,"change":"opened",'
        '"by":"company","comment":null,"requested_documents":[],"shipment_id":4101,'
        '"tracking_number":"TEST0004101","reason_code":null,"amounts":null}}'
    )
    assert (event.company, event.shipment_id, event.ticket_id) == (listening, 4101, ticket.pk)
    assert event.tracking_number == "TEST0004101"


Act = Callable[[APIClient, Ticket, Agent], Any]


def put_ticket(**body: Any) -> Act:
    return lambda api, ticket, ada: api.put(f"/company/tickets/{ticket.pk}", body)


def says(text: str) -> Act:
    return lambda api, ticket, ada: api.post(
        f"/company/tickets/{ticket.pk}/comments", {"comment": text}
    )


def agent_says(text: str, **reply: Any) -> Act:
    return lambda api, ticket, ada: working.answer(
        AgentReply(ticket_id=ticket.pk, user=ada.user, text=text, **reply)
    )


def agent_moves(to: Status, **move: Any) -> Act:
    return lambda api, ticket, ada: working.move(ticket.pk, to, user=ada.user, **move)


def by_command(api: APIClient, ticket: Ticket, ada: Agent) -> None:
    call_command("move_ticket", ticket.pk, 3, agent="ada", reason="No proof.")


ACTS = {
    "a move of the company": (1, put_ticket(ticket_status_id=10), ("moved", "company", 10, None)),
    "a move with a message": (
        6,
        put_ticket(ticket_status_id=5, comments="Invoice 7."),
        ("moved", "company", 5, "Invoice 7."),
    ),
    "a move that cannot be, with a message": (
        1,
        put_ticket(ticket_status_id=5, comments="Broken."),
        ("replied", "company", 1, "Broken."),
    ),
    "a comment": (1, says("Where is it?"), ("replied", "company", 1, "Where is it?")),
    "a comment that moves": (6, says("Here it is."), ("moved", "company", 5, "Here it is.")),
    "thanks": (6, says("Thanks!"), ("replied", "company", 6, "Thanks!")),
    "a move of an agent": (1, agent_moves(Status.IN_REVIEW), ("moved", "agent", 6, None)),
    "a decision": (
        6,
        agent_moves(Status.DECLINED, reason="No proof."),
        ("moved", "agent", 3, "No proof."),
    ),
    "the command": (6, by_command, ("moved", "agent", 3, "No proof.")),
    "a request for documents": (
        6,
        agent_moves(Status.INCOMPLETE, requested=["Invoice"]),
        ("moved", "agent", 4, "Please send:\n- Invoice"),
    ),
    "a request for documents without a move": (
        4,
        agent_says("And this:", public=True, requested=["Photo"]),
        ("documents_requested", "agent", 4, "And this:\nPlease send:\n- Photo"),
    ),
    "an answer": (6, agent_says("We look.", public=True), ("replied", "agent", 6, "We look.")),
    "a move with an answer": (
        1,
        agent_says("We look.", public=True, to=Status.IN_REVIEW),
        ("moved", "agent", 6, "We look."),
    ),
    "a move with a note": (
        1,
        agent_says("ada: odd.", public=False, to=Status.IN_REVIEW),
        ("moved", "agent", 6, None),
    ),
}


@pytest.mark.parametrize(("status_before", "act", "expected"), ACTS.values(), ids=ACTS.keys())
def test_one_request_makes_one_event(
    api: APIClient,
    listening: Company,
    agent: Agent,
    status_before: int,
    act: Act,
    expected: tuple[str, str, int, str | None],
) -> None:
    ticket = build.ticket(listening, status=status_before)

    act(api, ticket, agent)

    (body,) = published_bodies()
    conforms(body, TICKET_UPDATED.schema)
    data = body["data"]
    comments = api.get(f"/company/tickets/comments/{ticket.pk}").json()["data"]
    change, by, status, text = expected
    assert (data["change"], data["by"], data["ticket_status_id"]) == (change, by, status)
    assert data["ticket_status_name"] == Status(status).slug
    assert data["previous_status_id"] == status_before
    # The same comment as GET comments shows, whoever wrote it.
    assert data["comment"] == (comments[-1] if comments else None)
    assert (data["comment"] and data["comment"]["description"]) == text
    assert "ada" not in json.dumps(body)


def assigns(api: APIClient, ticket: Ticket, ada: Agent) -> None:
    eve = build.agent("eve", group="lead")
    reassigning.reassign(ticket.pk, ada, user=eve.user, reason="Knows it.")


SILENT: dict[str, tuple[int, Act]] = {
    "other variables": (1, put_ticket(ticket_status_id=1, data='{"a": 1}')),
    "a move that cannot be": (1, put_ticket(ticket_status_id=5)),
    "a move that cannot be, with variables": (1, put_ticket(ticket_status_id=5, data='{"a": 1}')),
    "a decided ticket": (3, put_ticket(ticket_status_id=5, comments="But!", data="{}")),
    "a comment on a decided ticket": (2, says("But!")),
    "an empty comment": (6, says("")),
    "a note": (6, agent_says("Looks odd.", public=False)),
    "taking": (6, lambda api, ticket, ada: taking.take_ticket(ticket.pk, user=ada.user)),
    "assigning": (6, assigns),
    "rating": (2, lambda api, ticket, ada: updating.rate(ticket.company, ticket.pk, rating=1)),
}


@pytest.mark.parametrize(("status", "act"), SILENT.values(), ids=SILENT.keys())
def test_other_acts_publish_nothing(
    api: APIClient, listening: Company, agent: Agent, status: int, act: Act
) -> None:
    act(api, build.ticket(listening, status=status), agent)

    assert published_bodies() == []


def test_a_lead_who_reopens_is_an_agent(listening: Company, lead: Agent) -> None:
    ticket = build.ticket(listening, status=3)

    working.move(ticket.pk, Status.IN_REVIEW, user=lead.user, reason="The carrier found it.")

    (body,) = published_bodies()
    assert (body["data"]["by"], body["data"]["previous_status_id"]) == ("agent", 3)
    # A lead's reason for reopening stays among agents.
    assert body["data"]["comment"] is None


def test_bulk_move_publishes_an_event_per_ticket(listening: Company, agent: Agent) -> None:
    desk = Client()
    desk.force_login(agent.user)
    tickets = [build.ticket(listening) for _ in range(3)]

    desk.post("/admin/tickets/ticket/move/2/", {**picked(*tickets), "code": "other"})

    assert [body["data"]["ticket_id"] for body in published_bodies()] == [one.pk for one in tickets]
    assert {body["data"]["change"] for body in published_bodies()} == {"moved"}


# Every kind of history, written by hand: whether its entry alone is news.
IS_NEWS = {
    Kind.OPENED: True,
    Kind.MOVED: True,
    Kind.MOVE_REFUSED: False,
    Kind.DATA_CHANGED: False,
    Kind.ASSIGNED: False,
    Kind.UNASSIGNED: False,
    Kind.TAKEN: False,
    Kind.REASSIGNED: False,
    Kind.HANDED_OVER: False,
    Kind.RELATED: False,
    Kind.UNRELATED: False,
    Kind.DOCUMENTS_REQUESTED: True,
    Kind.APPEALED: True,
    Kind.APPEAL_DECIDED: True,
    Kind.FILE_ADDED: False,
    Kind.AMOUNTS_CHANGED: False,
    Kind.CLAIM_FILE_TAKEN: False,
    Kind.EVIDENCE_TAKEN: False,
    Kind.REMINDED: False,
    Kind.ESCALATED: False,
    Kind.SNOOZED: False,
    Kind.WOKEN: False,
}


@pytest.mark.parametrize("kind", list(Kind))
def test_each_kind_of_history_is_news_or_is_not(listening: Company, kind: Kind) -> None:
    ticket = build.ticket(listening)

    news.ticket_service(record_history)(ticket, SYSTEM, kind)

    assert bool(published_bodies()) == IS_NEWS[kind]


@pytest.mark.parametrize(
    "write",
    [
        lambda ticket: record_history(ticket, SYSTEM, Kind.MOVED),
        lambda ticket: add_comment(ticket, CALLER, "Hello?"),
    ],
)
def test_history_that_is_news_requires_publishing(
    listening: Company, write: Callable[[Ticket], None]
) -> None:
    with pytest.raises(RuntimeError, match="ticket_service"), transaction.atomic():
        write(build.ticket(listening))

    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize(
    ("order", "weightiest"),
    [(list(TicketChange), "appeal_decided"), (list(TicketChange)[:0:-1], "appealed")],
)
def test_most_important_of_several_changes_is_published(
    listening: Company, order: list[TicketChange], weightiest: str
) -> None:
    ticket, lead = build.ticket(listening, status=3), Actor(By.LEAD, "eve")

    @news.ticket_service
    def decide() -> None:
        for change in order:
            if change == TicketChange.MOVED:
                change_status(ticket, Status.IN_REVIEW, lead)
            elif change == TicketChange.REPLIED:
                add_comment(ticket, lead, "You are right.")
            else:
                news.note_news(ticket, lead, change)

    decide()

    (body,) = published_bodies()
    data = body["data"]
    assert (data["change"], data["by"], data["ticket_status_id"]) == (weightiest, "agent", 6)
    assert data["comment"]["description"] == "You are right."


def test_an_appeal_has_the_status_before_it(listening: Company) -> None:
    ticket, lead = build.ticket(listening, status=3), Actor(By.LEAD, "eve")

    @news.ticket_service
    def accept() -> None:
        change_status(ticket, Status.IN_REVIEW, lead)
        news.note_news(ticket, lead, TicketChange.APPEAL_DECIDED)

    accept()

    (body,) = published_bodies()
    assert (body["data"]["change"], body["data"]["previous_status_id"]) == ("appeal_decided", 3)


def test_change_rolled_back_within_a_service_is_not_published(listening: Company) -> None:
    ticket = build.ticket(listening)

    @news.ticket_service
    def inner() -> None:
        record_history(ticket, SYSTEM, Kind.MOVED, previous=Status.IN_REVIEW)
        raise ZeroDivisionError

    @news.ticket_service
    def outer() -> None:
        with pytest.raises(ZeroDivisionError):
            inner()
        add_comment(ticket, CALLER, "Hello?")

    outer()

    assert [body["data"]["change"] for body in published_bodies()] == ["replied"]
    assert not HistoryEntry.objects.exists()


def test_event_and_change_are_one_transaction(
    api: APIClient, listening: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = build.ticket(listening, status=6)
    monkeypatch.setattr(publishing, "publish", lambda news: 1 / 0)

    opened = api.post("/company/tickets", {"type_id": 2})
    moved = api.put(f"/company/tickets/{ticket.pk}", {"ticket_status_id": 10})

    assert (opened.status_code, moved.status_code) == (500, 500)
    assert Ticket.objects.get().status == 6


def test_another_company_hears_nothing(api: APIClient, listening: Company, birch: Company) -> None:
    build.webhook(birch, TICKET_UPDATED.id)
    build.webhook(listening)
    build.shipment(birch, 4101)

    opened = api.post("/company/tickets", {"type_id": 5, "shipment_id": 4101})
    api.post(f"/company/tickets/{opened.json()['id']}/comments", {"comment": "Hello?"})

    listeners = Delivery.objects.values_list("webhook__company", "webhook__type_id").distinct()
    assert list(listeners) == [(listening.pk, TICKET_UPDATED.id)]
    # The shipment belongs to another company, so its number is not published.
    assert [body["data"]["tracking_number"] for body in published_bodies()] == [None, None]
    assert [body["data"]["shipment_id"] for body in published_bodies()] == [4101, 4101]


def test_without_a_listener_a_ticket_costs_one_look_and_no_write(
    api: APIClient,
    company: Company,
    birch: Company,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build.webhook(company)
    build.webhook(birch, TICKET_UPDATED.id)
    looks = []
    ask = publishing.has_listener
    monkeypatch.setattr(publishing, "has_listener", lambda *args: looks.append(args) or ask(*args))
    monkeypatch.setattr(publishing, "publish", lambda news: 1 / 0)

    opened = api.post("/company/tickets", {"type_id": 2})
    api.post(f"/company/tickets/{opened.json()['id']}/comments", {"comment": "Hello?"})

    assert looks == [(company.pk, TICKET_UPDATED.id)] * 2
    assert Ticket.objects.get().last_event_at is None


def test_event_times_never_go_back(
    listening: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    ticket = opening.open_ticket(listening, CALLER, type_id=2)
    for number in range(3):
        updating.comment(listening, ticket.pk, CALLER, f"{number}?")
    now = now.replace(year=now.year - 1)
    working.move(ticket.pk, Status.IN_REVIEW, user=agent.user)

    times = [datetime.fromisoformat(body["created_at"]) for body in published_bodies()]

    assert len(times) == 5
    assert all(before < after for before, after in pairwise(times))


def test_all_webhooks_are_told_one_fact_and_its_place(listening: Company, agent: Agent) -> None:
    build.webhook(listening, TICKET_UPDATED.id, url="https://hooks.example.com/other")
    ticket = build.ticket(listening)

    working.move(ticket.pk, Status.IN_REVIEW, user=agent.user)
    updating.comment(listening, ticket.pk, CALLER, "Invoice 7.")

    first, second = Event.objects.order_by("pk")
    assert Delivery.objects.count() == 4
    assert isinstance(first.fact_id, UUID)
    assert first.fact_id != second.fact_id
    assert first.sequence < second.sequence


def test_a_ticket_and_a_shipment_of_one_number_are_two_subjects(listening: Company) -> None:
    build.webhook(listening)
    ticket = build.ticket(listening)
    publishing.publish([build.news(listening, ticket.pk)])

    updating.comment(listening, ticket.pk, CALLER, "Hello?")

    assert set(Delivery.objects.values_list("subject_kind", "subject_id")) == {
        (SubjectKind.SHIPMENT, ticket.pk),
        (SubjectKind.TICKET, ticket.pk),
    }


def test_the_sample_is_the_company_s_own_ticket(
    api: APIClient, company: Company, birch: Company, agent: Agent
) -> None:
    build.shipment(company, 4101)
    opened = api.post("/company/tickets", {"type_id": 5, "shipment_id": 4101}).json()["id"]
    working.move(opened, Status.DECLINED, user=agent.user, reason="No proof.")

    own, others = (
        TICKET_UPDATED.sample(one.pk, "TEST0004101", timezone.now())["data"]
        for one in (company, birch)
    )

    assert (own["ticket_id"], own["previous_status_id"], own["ticket_status_id"]) == (opened, 1, 3)
    assert (own["tracking_number"], others["tracking_number"]) == ("TEST0004101", "TEST0004101")
    assert (others["ticket_id"], others["ticket_type_name"]) == (2**53 + 1, "damaged")


@pytest.mark.usefixtures("rows_to_keep")
def test_two_writers_on_one_ticket_are_told_in_the_order_of_what_they_did(
    transactional_db: None,
) -> None:
    acme, ada = build.company(), build.agent("ada")
    build.webhook(acme, TICKET_UPDATED.id)
    client = signed_in(acme)
    with racers(2) as together:
        for _ in range(5):
            ticket = build.ticket(acme, status=Status.IN_REVIEW)
            address = f"/company/tickets/{ticket.pk}/comments"
            for to in (Status.INCOMPLETE, Status.IN_REVIEW, Status.ACCEPTED):
                together.run(
                    [
                        partial(working.move, ticket.pk, to, user=ada.user, reason="Because."),
                        partial(client.post, address, {"comment": f"For {to.label}."}),
                    ]
                )

            events = list(Event.objects.filter(ticket_id=ticket.pk).order_by("sequence"))
            bodies = [json.loads(bytes(event.body)) for event in events]
            moves = [body["data"] for body in bodies if body["data"]["change"] == "moved"]
            entries = ticket.history.filter(public=True).values_list("was", "now")
            assert [
                (move["previous_status_id"], move["ticket_status_id"]) for move in moves
            ] == list(entries)
            statuses = [Status.IN_REVIEW, *(body["data"]["ticket_status_id"] for body in bodies)]
            assert [body["data"]["previous_status_id"] for body in bodies] == statuses[:-1]
            times = [body["created_at"] for body in bodies]
            assert times == sorted(set(times))
            ids = [body["data"]["comment"]["id"] for body in bodies if body["data"]["comment"]]
            assert ids == list(ticket.conversation.filter(public=True).values_list("pk", flat=True))
