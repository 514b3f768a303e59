"""Agents and ticket types at the desk: who may change them, and the consequences."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from companies.models import Company
from tests import builders as build
from tests.desk.forms import agent_form
from tickets import agents, jobs, roles
from tickets.models import Agent, TicketType
from tickets.statuses import Status


def test_does_not_let_agents_change_agents_and_types(desk: Client, agent: Agent) -> None:
    assert desk.get(f"/admin/tickets/agent/{agent.pk}/change/").status_code == 403
    body = {"available": "", "capacity": 1}
    assert desk.post(f"/admin/tickets/agent/{agent.pk}/change/", body).status_code == 403
    assert desk.post("/admin/tickets/tickettype/4/change/", {"active": ""}).status_code == 403
    agent.refresh_from_db()
    assert agent.available
    assert TicketType.objects.get(pk=4).active


def test_lets_a_lead_send_an_agent_on_leave_and_back(
    client: Client,
    company: Company,
    agent: Agent,
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agents, "ring_assignment", jobs.assign_waiting)
    client.force_login(build.agent("eve", group="lead", available=False).user)
    address = f"/admin/tickets/agent/{agent.pk}/change/"
    client.post(address, agent_form(agent, capacity=7, skills=[4]))
    agent.refresh_from_db()
    assert (agent.available, agent.capacity) == (False, 7)
    ticket = build.ticket(company, type_id=4)

    with django_capture_on_commit_callbacks(execute=True):
        client.post(address, agent_form(agent, available="on", capacity=7, skills=[4]))

    ticket.refresh_from_db()
    assert ticket.agent == agent


def test_keeps_the_time_of_an_assignment_that_fell_while_the_form_was_open(
    operator: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[list[str]] = []
    monkeypatch.setattr(agents, "change_agent", lambda agent, fields: saved.append(list(fields)))

    body = agent_form(agent, available="on", capacity=9)
    operator.post(f"/admin/tickets/agent/{agent.pk}/change/", body)

    assert saved == [["capacity"]]


def test_lets_an_operator_add_a_type_that_companies_can_use_at_once(
    operator: Client, api: Any, company: Company
) -> None:
    body = {"id": 77, "name": "customs", "reference": "guide", "active": "on"}
    operator.post("/admin/tickets/tickettype/add/", {**body, "reference_required": "on"})

    answer = api.post("/company/tickets", {"type_id": 77, "shipment_id": 5})

    assert answer.status_code == 200
    operator.post("/admin/tickets/tickettype/77/change/", {"name": "x", "active": "on"})
    assert TicketType.objects.get(pk=77).name == "customs"


def switch_off(client: Client, agent: Agent) -> str:
    body = {"username": agent.user.username, "is_staff": "on"}
    page = f"/admin/auth/user/{agent.user.pk}/change/"
    html = client.post(page, body, follow=True).content.decode()
    agent.user.refresh_from_db()
    assert not agent.user.is_active
    return html


def test_switching_a_user_off_tells_what_they_leave_behind(
    operator: Client, company: Company, agent: Agent
) -> None:
    build.ticket(company, agent=agent)
    build.ticket(company, agent=agent, status=Status.INCOMPLETE)
    build.ticket(company, agent=agent, status=Status.ACCEPTED)

    html = switch_off(operator, agent)

    assert "1 ticket of ada is being assigned to somebody else." in html
    assert "1 ticket waits for the company" in html
    assert f'href="/admin/tickets/agent/{agent.pk}/hand-over/"' in html


def test_who_is_switched_off_and_on_again_has_to_sign_in(operator: Client, agent: Agent) -> None:
    ada = Client()
    ada.force_login(agent.user)
    assert ada.get("/admin/").status_code == 200

    switch_off(operator, agent)
    User.objects.filter(pk=agent.user_id).update(is_active=True)

    assert ada.get("/admin/").status_code == 302


def test_agent_without_permission_reads_who_may_hand_over(company: Company, agent: Agent) -> None:
    for _ in range(2):
        build.ticket(company, agent=agent, status=Status.INCOMPLETE)
    operator = User.objects.create_user("oskar", is_staff=True)
    operator.groups.add(roles.group("operator"))
    client = Client()
    client.force_login(operator)

    html = switch_off(client, agent)

    assert "2 tickets wait for the company" in html
    assert "A lead can reassign them now." in html
    assert "hand-over" not in html


def test_agent_without_tickets_is_not_mentioned(operator: Client, agent: Agent) -> None:
    assert "company, and will be" not in switch_off(operator, agent)
