"""Tickets of an agent who was switched off, and of a retired type (N27)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from companies.models import Company
from core.jobs import doorbell
from tests import builders as build
from tickets import jobs
from tickets.assignment import automatic
from tickets.models import Agent, Ticket, TicketType
from tickets.statuses import Status


def unassigned(client: Client) -> float:
    lines = client.get("/metrics").content.decode().splitlines()
    return float(next(one for one in lines if one.startswith("parceldesk_tickets_un")).split()[1])


def switch_off(agent: Agent) -> None:
    User.objects.filter(pk=agent.user_id).update(is_active=False)


def test_active_tickets_go_to_others_and_history_says_why(
    client: Client, desk_of: Callable[[Agent], Client], company: Company, agent: Agent
) -> None:
    ours, theirs = build.ticket(company, agent=agent), build.ticket(company, agent=agent, status=4)
    bob = build.agent("bob")
    switch_off(agent)
    assert unassigned(client) == 1

    assert jobs.assign_waiting() == 1

    ours.refresh_from_db()
    theirs.refresh_from_db()
    assert (ours.agent, theirs.agent) == (bob, agent)
    assert unassigned(client) == 0
    page = desk_of(bob).get(f"/admin/tickets/ticket/{ours.pk}/change/").content.decode()
    assert "Taken back from ada, who is no longer active." in page
    assert "Assigned automatically to bob (least busy)." in page


def test_ticket_changed_since_the_sweep_is_left_alone(
    company: Company, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob, decided = build.agent("bob"), Status.ACCEPTED
    back, answered = build.ticket(company, agent=bob), build.ticket(company, agent=agent)
    Ticket.objects.filter(pk=answered.pk).update(status=decided)
    switch_off(agent)
    monkeypatch.setattr(automatic, "tickets_of_inactive_agents", Ticket.objects.all)

    assert jobs.assign_waiting() == 0

    agents = Ticket.objects.order_by("pk").values_list("agent", flat=True)
    assert list(agents) == [bob.pk, agent.pk]
    assert not back.history.exists()


def test_incomplete_ticket_is_unassigned_when_the_company_answers(
    api: APIClient, company: Company, agent: Agent
) -> None:
    ticket = build.ticket(company, agent=agent, status=Status.INCOMPLETE)
    bob = build.agent("bob")
    switch_off(agent)
    assert jobs.assign_waiting() == 0

    body = {"ticket_status_id": 5, "comments": "Here is the invoice."}
    assert api.put(f"/company/tickets/{ticket.pk}", body).status_code == 200

    assert jobs.assign_waiting() == 1
    ticket.refresh_from_db()
    assert (ticket.status, ticket.agent) == (Status.FOLLOW_UP, bob)


def test_ticket_stays_unassigned_without_other_agents(
    client: Client, desk_of: Callable[[Agent], Client], company: Company, agent: Agent
) -> None:
    ticket = build.ticket(company, agent=agent)
    switch_off(agent)

    assert jobs.assign_waiting() == 0

    ticket.refresh_from_db()
    assert ticket.agent is None
    assert unassigned(client) == 1
    eve = build.agent("eve", available=False)
    desk_of(eve).post("/admin/tickets/ticket/take/")
    ticket.refresh_from_db()
    assert ticket.agent == eve


def test_who_is_switched_off_at_the_desk_is_told_of_and_the_task_is_rung_for(
    admin_client: Client,
    company: Company,
    agent: Agent,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    rings: list[str] = []
    monkeypatch.setattr(doorbell, "ring_job", lambda name, **_: rings.append(name))
    build.ticket(company, agent=agent)
    build.ticket(company, agent=agent, status=Status.INCOMPLETE)
    body = {"username": "ada", "is_staff": "on"}

    with django_capture_on_commit_callbacks(execute=True):
        address = f"/admin/auth/user/{agent.user_id}/change/"
        html = admin_client.post(address, body, follow=True).content.decode()

    assert rings == ["assign_waiting"]
    assert "1 ticket of ada is being assigned to somebody else." in html
    waits = "1 ticket waits for the company and will be assigned to somebody else when it replies."
    assert waits in html


@pytest.fixture
def desk_of() -> Callable[[Agent], Client]:
    def sign_in(agent: Agent) -> Client:
        client = Client()
        client.force_login(agent.user)
        return client

    return sign_in


def test_a_retired_type_is_not_offered_and_its_tickets_go_on(
    api: APIClient, admin_client: Client, company: Company
) -> None:
    ticket = build.ticket(company, type_id=2)
    TicketType.objects.filter(pk=2).update(active=False)

    assert 2 not in [one["id"] for one in api.get("/tickets/types").json()["data"]]
    refused = api.post("/company/tickets", {"type_id": 2})
    assert refused.status_code == 400
    assert refused.json()["errors"] == [
        {
            "field": "type_id",
            "message": "Ticket type 2 is no longer offered.",
            "code": "ticket_type_retired",
        }
    ]
    assert Ticket.objects.count() == 1
    body = {"ticket_status_id": 10, "comments": "We ask for our money."}
    assert api.put(f"/company/tickets/{ticket.pk}", body).status_code == 200
    row = api.get(f"/company/tickets/{ticket.pk}").json()["data"][0]
    assert (row["ticket_type_name"], row["ticket_status_id"]) == ("carrier", 10)
    types = admin_client.get("/admin/tickets/tickettype/").content.decode()
    assert 'href="/admin/tickets/ticket/?queue=open&amp;type=2">1</a>' in types
