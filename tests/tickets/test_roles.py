"""Agent, lead, auditor, operator: their permissions, and how such users are created."""

from io import StringIO

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client

from tests import builders as build
from tickets import roles
from tickets.models import Agent

pytestmark = pytest.mark.django_db


def run(command: str, *arguments: str) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_PASSWORD", "correct-horse-9")


def may(role: str) -> set[str]:
    user = User.objects.create_user(f"a-{role}", is_staff=True)
    user.groups.add(roles.group(role))
    return user.get_all_permissions()


def test_every_permission_that_a_role_names_exists() -> None:
    names = {f"{one.content_type.app_label}.{one.codename}" for one in roles.permissions(every())}

    assert {name for name in every() if not name.endswith("*")} - names == set()


def every() -> set[str]:
    return set().union(*roles.GROUPS.values())


def test_an_auditor_sees_all_and_changes_nothing() -> None:
    names = may("auditor")

    assert {name.partition(".")[2].partition("_")[0] for name in names} == {"view", "export"}
    ours = Permission.objects.filter(
        content_type__app_label__in=roles.OURS, codename__startswith="view_"
    )
    assert {f"{one.content_type.app_label}.{one.codename}" for one in ours} <= names


def test_an_operator_does_not_touch_tickets() -> None:
    names = may("operator")

    assert {"webhooks.pause_webhook", "deliveries.send_again", "auth.add_user"} <= names
    assert [
        name for name in names if name.startswith("tickets.") and "tickettype" not in name
    ] == []
    assert not {"auth.change_group", "auth.delete_user"} & names


def test_a_lead_may_what_an_agent_may_and_pauses_webhooks() -> None:
    agent, lead = may("agent"), may("lead")

    assert agent < lead
    assert "deliveries.send_again" in agent
    assert "webhooks.pause_webhook" in lead - agent


def test_nobody_s_role_deletes_what_must_stay() -> None:
    deletes = {name for name in every() if ".delete_" in name}

    assert [
        name for name in deletes if not name.startswith(("tickets.", "desk.delete_macro"))
    ] == []
    assert not {"tickets.delete_ticket", "tickets.delete_agent"} & deletes


@pytest.mark.parametrize("role", roles.NON_AGENT_ROLES)
def test_makes_somebody_who_signs_in_and_gets_no_tickets(client: Client, role: str) -> None:
    assert run("create_user", "olga", "--role", role) == f"created {role} olga\n"

    assert not Agent.objects.exists()
    assert not User.objects.get().is_superuser
    assert client.post(
        "/admin/login/", {"username": "olga", "password": "correct-horse-9"}
    ).headers["Location"]
    assert client.get("/admin/").status_code == 200


def test_says_why_a_user_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        run("create_user", "olga", "--role", "lead")
    with pytest.raises(CommandError, match="valid username"):
        run("create_user", "olga nova", "--role", "auditor")
    monkeypatch.setenv("AGENT_PASSWORD", "short")
    with pytest.raises(CommandError, match="too short"):
        run("create_user", "olga", "--role", "auditor")

    assert not User.objects.exists()


def test_a_new_permission_reaches_a_group_when_the_operator_says_so() -> None:
    agent = build.agent().user
    permissions = roles.group("agent").permissions
    permissions.remove(*roles.permissions(["deliveries.send_again"]))
    permissions.add(*roles.permissions(["desk.add_macro"]))

    assert run("update_groups") == "agent: deliveries.send_again\n"
    assert not User.objects.get(pk=agent.pk).has_perm("deliveries.send_again")

    assert run("update_groups", "--apply").endswith("agent: granted 1\n")
    user = User.objects.get(pk=agent.pk)
    assert user.has_perm("deliveries.send_again")
    assert user.has_perm("desk.add_macro")
    assert run("update_groups") == ""
