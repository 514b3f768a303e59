"""A lead reassigns tickets at the desk: one, many, or all of an agent who left."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tests.desk.forms import agent_form, picked, token
from tickets import working
from tickets.models import Agent, HistoryEntry, Ticket

LIST = "/admin/tickets/ticket/"
GIVE = f"{LIST}give/"


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


@pytest.fixture
def bob(db: None) -> Agent:
    return build.agent("bob", last_assigned_at=timezone.now())


def with_whom() -> list[str | None]:
    return list(Ticket.objects.order_by("pk").values_list("agent__user__username", flat=True))


def test_asks_to_whom_then_gives_and_goes_back_to_the_list(
    lead: Client, company: Company, agent: Agent, bob: Agent
) -> None:
    tickets = [build.ticket(company, agent=agent) for _ in range(2)]
    ids = [one.pk for one in tickets]

    form_page = lead.post(LIST, {"action": "give", "_selected_action": ids})

    html = form_page.content.decode()
    assert all(f'name="seen" value="{one}"' in html for one in picked(*tickets)["seen"])
    assert "ada: 2 of 50" in html
    assert with_whom() == ["ada", "ada"]

    body = {**picked(*tickets), "to": bob.pk, "reason": "Knows the carrier."}
    answer = lead.post(GIVE, body, follow=True)

    assert answer.redirect_chain[-1][0] == LIST
    assert "2 tickets assigned." in answer.content.decode()
    assert with_whom() == ["bob", "bob"]


def test_names_the_tickets_that_had_changed(
    lead: Client, company: Company, agent: Agent, bob: Agent
) -> None:
    tickets = [build.ticket(company, agent=agent) for _ in range(2)]
    form = picked(*tickets)
    working.write(tickets[0].pk, "Keep it.", user=agent.user, public=False)

    answer = lead.post(GIVE, {**form, "to": bob.pk, "reason": "Mine & yours"})

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "1 ticket assigned. 1 ticket was not assigned." in html
    assert "ada added a note " in html
    assert "Keep it." in html
    # The typed text is kept, and the page now carries the tokens of what it shows.
    assert "Mine &amp; yours" in html
    assert f'name="seen" value="{token(tickets[0])}"' in html
    assert with_whom() == ["ada", "bob"]


def test_automatic_choice_assigns_and_returns_to_the_ticket(
    lead: Client, company: Company, agent: Agent, bob: Agent
) -> None:
    ticket = build.ticket(company, agent=agent)

    answer = lead.post(GIVE, {**picked(ticket), "to": ""})

    assert answer["Location"] == f"{LIST}{ticket.pk}/change/"
    assert with_whom() == ["bob"]


def test_is_closed_to_agents(desk: Client, company: Company, agent: Agent, bob: Agent) -> None:
    ticket = build.ticket(company, agent=agent)
    hand_over = f"/admin/tickets/agent/{agent.pk}/hand-over/"

    assert desk.get(GIVE).status_code == 403
    assert desk.post(GIVE, {**picked(ticket), "to": bob.pk}).status_code == 403
    assert desk.post(hand_over, {"to": bob.pk}).status_code == 403
    listed = desk.post(LIST, {"action": "give", "_selected_action": [ticket.pk]})
    assert "Assign tickets" not in listed.content.decode()

    assert with_whom() == ["ada"]
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize("ticket", ["x", ""])
def test_ignores_ids_of_no_ticket(lead: Client, ticket: str) -> None:
    assert lead.get(GIVE, {"ticket": ticket}).status_code == 404
    assert lead.post(GIVE, {"ticket": ticket}).status_code == 404


def test_assigns_nothing_to_an_unknown_agent(lead: Client, company: Company, agent: Agent) -> None:
    ticket = build.ticket(company, agent=agent)

    answer = lead.post(GIVE, {**picked(ticket), "to": "999999"})

    assert answer.status_code == 200
    assert "Select a valid choice" in answer.content.decode()
    assert with_whom() == ["ada"]


def test_query_count_is_independent_of_the_number_of_agents(
    lead: Client, company: Company, django_assert_max_num_queries: Any
) -> None:
    tickets = [build.ticket(company, agent=build.agent(f"a{number}")) for number in range(9)]
    lead.get(GIVE)
    fields = picked(*tickets)

    with django_assert_max_num_queries(7):
        assert lead.get(GIVE, fields).status_code == 200


def test_hands_over_what_is_left_behind(
    lead: Client, company: Company, agent: Agent, bob: Agent
) -> None:
    for status in (1, 4, 2):
        build.ticket(company, agent=agent, status=status)
    address = f"/admin/tickets/agent/{agent.pk}/hand-over/"
    assert "ada has 2 open tickets" in lead.get(address).content.decode()

    answer = lead.post(address, {"to": bob.pk, "reason": "Left."}, follow=True)

    assert "ada has no open tickets left." in answer.content.decode()
    assert with_whom() == ["bob", "bob", "ada"]


def test_proposes_to_hand_over_when_an_agent_goes(
    lead: Client, company: Company, agent: Agent
) -> None:
    build.ticket(company, agent=agent)
    address = f"/admin/tickets/agent/{agent.pk}/change/"

    answer = lead.post(address, agent_form(agent), follow=True)

    html = answer.content.decode()
    assert "ada keeps 1 open ticket." in html
    assert f"/admin/tickets/agent/{agent.pk}/hand-over/" in html
    assert with_whom() == ["ada"]


def test_lets_a_lead_write_shifts_and_absences(lead: Client, agent: Agent) -> None:
    address = f"/admin/tickets/agent/{agent.pk}/change/"
    shift = {"weekday": 0, "starts": "09:00", "ends": "17:00"}
    absence = {"starts_at_0": "2030-01-01", "starts_at_1": "00:00", "reason": "Holiday"}
    body = agent_form(agent, available="on", time_zone="Europe/Madrid")
    body |= {"shifts-TOTAL_FORMS": 1, "absences-TOTAL_FORMS": 1}
    body |= {f"shifts-0-{name}": value for name, value in shift.items()}
    body |= {f"absences-0-{name}": value for name, value in absence.items()}
    body |= {"absences-0-ends_at_0": "2030-01-08", "absences-0-ends_at_1": "00:00"}

    assert lead.post(address, body).status_code == 302

    assert str(agent.shifts.get()) == "Monday 09:00 to 17:00"
    assert str(agent.absences.get()) == "2030-01-01 00:00 to 2030-01-08 00:00"
    agent.refresh_from_db()
    assert agent.time_zone == "Europe/Madrid"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"time_zone": "Mars/Base"}, "There is no time zone Mars/Base."),
        ({"shifts-0-starts": "22:00", "shifts-0-ends": "06:00"}, "Enter a night shift as two"),
        ({"shifts-0-starts": "soon"}, "Enter a valid time."),
        ({"capacity": "-1"}, "greater than or equal to 0"),
    ],
)
def test_names_the_field_that_is_wrong(
    lead: Client, agent: Agent, wrong: dict[str, str], message: str
) -> None:
    shift = {"shifts-0-weekday": 0, "shifts-0-starts": "09:00", "shifts-0-ends": "17:00"}
    body = agent_form(agent, available="on", **{"shifts-TOTAL_FORMS": 1}) | shift | wrong

    answer = lead.post(f"/admin/tickets/agent/{agent.pk}/change/", body)

    assert answer.status_code == 200
    assert message in answer.content.decode()
    agent.refresh_from_db()
    assert (agent.time_zone, agent.capacity, agent.shifts.count()) == ("UTC", 50, 0)


def test_agents_come_and_go_by_themselves(desk: Client, agent: Agent, bob: Agent) -> None:
    mine = f"/admin/tickets/agent/{agent.pk}/available/"

    assert desk.get(mine).status_code == 405
    assert desk.post(mine).status_code == 302
    assert not Agent.objects.get(pk=agent.pk).available
    desk.post(mine, {"there": "1"})
    assert Agent.objects.get(pk=agent.pk).available

    assert desk.post(f"/admin/tickets/agent/{bob.pk}/available/").status_code == 403
    assert Agent.objects.get(pk=bob.pk).available


def test_lists_many_agents_in_as_many_queries_as_one(
    lead: Client, company: Company, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        build.ticket(company, agent=build.agent(f"agent-{number}"))
    lead.get("/admin/tickets/agent/")

    with django_assert_max_num_queries(7):
        assert "1 of 50" in lead.get("/admin/tickets/agent/").content.decode()
