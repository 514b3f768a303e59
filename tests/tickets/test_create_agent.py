from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from companies.models import Company
from tests import builders as build
from tickets import agents
from tickets.jobs import assign_waiting
from tickets.models import Agent, Ticket

pytestmark = pytest.mark.django_db
PASSWORD = "correct-horse-9"


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_PASSWORD", PASSWORD)


def create(username: str, *arguments: str) -> str:
    out = StringIO()
    call_command("create_agent", username, *arguments, stdout=out)
    return out.getvalue()


def test_makes_somebody_who_signs_in_to_the_desk(client: Client) -> None:
    assert create("ada", "--email", "ada@example.com") == "created agent ada\n"

    agent = Agent.objects.get(user__username="ada")
    assert (agent.capacity, agent.available, agent.skills.count()) == (50, True, 0)
    assert agent.user.email == "ada@example.com"
    assert not agent.user.is_superuser
    client.post("/admin/login/", {"username": "ada", "password": PASSWORD})
    assert client.get("/admin/").status_code == 200


def test_takes_skills_and_a_capacity() -> None:
    create("ada", "--skill", "3", "4", "--skill", "19", "--capacity", "7")

    agent = Agent.objects.get()
    assert agent.capacity == 7
    assert {one.pk for one in agent.skills.all()} == {3, 4, 19}


def test_lets_a_lead_reopen_and_an_agent_not() -> None:
    create("ada")
    create("eve", "--lead")

    ada, eve = (User.objects.get(username=name) for name in ("ada", "eve"))
    for user in (ada, eve):
        assert user.has_perm("tickets.change_ticket")
        assert user.has_perm("tickets.add_ticket"), "for a company that calls"
        assert not user.has_perm("tickets.delete_ticket")
    assert not ada.has_perm("tickets.reopen_ticket")
    assert eve.has_perm("tickets.reopen_ticket")


def test_leaves_the_groups_as_an_operator_made_them() -> None:
    agents.group("agent").permissions.clear()

    create("ada")

    assert not User.objects.get().has_perm("tickets.view_ticket")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ada"], "already exists"),
        (["bob smith"], "valid username"),
        (["bob", "--email", "nobody"], "valid email"),
        (["bob", "--skill", "3", "99"], "There is no ticket type 99"),
        (["bob", "--capacity", "-1"], "greater than or equal to 0"),
        (["bob", "--capacity", str(2**31)], "less than or equal"),
    ],
)
def test_invalid_arguments_are_explained(agent: Agent, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        create(*arguments)

    assert Agent.objects.get() == agent
    assert User.objects.count() == 1


def test_refuses_a_weak_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_PASSWORD", "secret")

    with pytest.raises(CommandError, match="too short"):
        create("ada")

    assert not User.objects.exists()


def test_asks_for_the_password_where_none_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENT_PASSWORD")
    monkeypatch.setattr("tickets.management.commands.create_agent.getpass", lambda _: PASSWORD)
    create("ada")
    assert User.objects.get().check_password(PASSWORD)

    def nobody_there(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("tickets.management.commands.create_agent.getpass", nobody_there)
    with pytest.raises(CommandError, match="AGENT_PASSWORD"):
        create("bob")


def test_new_agent_triggers_the_sweep(
    company: Company, django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = build.ticket(company)
    monkeypatch.setattr(agents, "ring_assignment", assign_waiting)

    with django_capture_on_commit_callbacks(execute=True):
        create("ada")

    assert Ticket.objects.get(pk=ticket.pk).agent == Agent.objects.get()
