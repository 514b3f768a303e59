"""The user who decided a ticket is stored with the decision, whoever holds the ticket later."""

import pytest
from django.core.management import call_command
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tickets import working
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import Status

NOW = timezone.now()


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    """Create a ticket of Ada."""
    return build.ticket(company, agent=agent, status=Status.IN_REVIEW)


@pytest.fixture
def eve(db: None) -> Agent:
    return build.agent("eve", group="lead", available=False)


def decider(ticket: Ticket) -> str | None:
    user = Ticket.objects.select_related("decided_by").get(pk=ticket.pk).decided_by
    return user and user.username


def test_decider_is_stored_and_not_the_assignee(
    company: Company, agent: Agent, ticket: Ticket, eve: Agent
) -> None:
    bystander = build.ticket(company, agent=agent, status=Status.IN_REVIEW)
    working.move(ticket.pk, Status.DECLINED, user=eve.user, reason="No.")
    assert decider(ticket) == "eve"

    Ticket.objects.filter(pk=ticket.pk).update(agent=build.agent("ben"))
    assert decider(ticket) == "eve"
    eve.user.username = "evelyn"
    eve.user.save()
    assert decider(ticket) == "evelyn"
    assert decider(bystander) is None


def test_reopened_ticket_has_no_decider_until_decided_again(
    agent: Agent, ticket: Ticket, eve: Agent
) -> None:
    working.move(ticket.pk, Status.ACCEPTED, user=agent.user)
    assert decider(ticket) == "ada"
    working.move(ticket.pk, Status.IN_REVIEW, user=eve.user, reason="Again.")
    assert decider(ticket) is None
    ben = build.agent("ben")
    working.move(ticket.pk, Status.DECLINED, user=ben.user, reason="No.")
    working.write(ticket.pk, "A note.", user=eve.user, public=False)
    assert decider(ticket) == "ben"


def test_commands_decide_for_their_agent(agent: Agent, ticket: Ticket) -> None:
    call_command("move_ticket", ticket.pk, 3, "--agent", "ada", "--reason", "No.")
    assert decider(ticket) == "ada"


@pytest.mark.parametrize(
    ("by", "actor", "expected"),
    [
        ("agent", "ada", "ada"),
        ("lead", "ada", "ada"),
        ("lead", "sandbox", None),
        ("agent", "gone", None),
        ("system", "ada", None),
        ("company", "ada", None),
    ],
)
def test_database_derives_the_decider_from_history(
    company: Company, agent: Agent, ticket: Ticket, by: str, actor: str, expected: str | None
) -> None:
    other = build.ticket(company, agent=agent, status=Status.IN_REVIEW)
    for one, (who, name) in ((other, ("agent", "ada")), (ticket, (by, actor))):
        decide_as_before(one, who, name)
        note = {"by": "agent", "actor": "ada", "now": Status.DECLINED, "public": False}
        HistoryEntry.objects.create(ticket=one, created_at=NOW, **note)

    assert [decider(ticket), decider(other)] == [expected, "ada"]


def decide_as_before(ticket: Ticket, by: str, actor: str) -> None:
    move = {"by": by, "actor": actor, "was": ticket.status, "now": Status.DECLINED}
    HistoryEntry.objects.create(ticket=ticket, kind="moved", created_at=NOW, **move)
    Ticket.objects.filter(pk=ticket.pk).update(status=Status.DECLINED, decided_at=NOW)


def test_the_test_environment_decides_for_nobody(
    company: Company, agent: Agent, ticket: Ticket
) -> None:
    working.play_move(company, ticket.pk, Status.ACCEPTED, reason="Yes.", requested=())
    assert decider(ticket) is None


def test_a_user_who_is_deleted_leaves_the_decision(ticket: Ticket, eve: Agent) -> None:
    working.move(ticket.pk, Status.DECLINED, user=eve.user, reason="No.")
    user = eve.user
    eve.delete()
    user.delete()
    assert decider(ticket) is None
    assert Ticket.objects.get(pk=ticket.pk).decided_at is not None
