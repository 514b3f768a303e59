"""Agents' moves, through the function that the desk and the command share (decision T3)."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from companies.models import Company
from tests import builders as build
from tickets.management.commands.move_ticket import Command
from tickets.models import Agent, Comment, HistoryEntry, Ticket
from tickets.statuses import AGENT_MOVES, OPEN, TERMINAL, Status, joined, listed

TARGETS = [Status.ACCEPTED, Status.DECLINED, Status.INCOMPLETE, Status.IN_REVIEW]


def move(ticket: Ticket, to: int, agent: str = "ada", **options: Any) -> str:
    out = StringIO()
    call_command("move_ticket", ticket.pk, to, agent=agent, stdout=out, **options)
    ticket.refresh_from_db()
    return out.getvalue()


def refused(ticket: Ticket, to: int, agent: str = "ada", **options: Any) -> str:
    """Return the refusal's message, after checking that nothing happened."""
    before = Ticket.objects.values().get()
    with pytest.raises(CommandError) as error:
        move(ticket, to, agent, **options)
    assert error.value.returncode == 1
    assert Ticket.objects.values().get() == before
    assert not HistoryEntry.objects.exists()
    assert not Comment.objects.exists()
    return str(error.value)


@pytest.fixture
def lead(db: None) -> Agent:
    return build.agent("eve", group="lead")


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("status", sorted(OPEN))
def test_moves_an_open_ticket_and_prints_its_status(
    company: Company, status: Status, to: Status
) -> None:
    ticket = build.ticket(company, status=status)
    if status == to:
        assert refused(ticket, to, reason="why") == f"The ticket is already {to.label}."
        return

    assert move(ticket, to, reason="why") == f"{to.value} {to.label}\n"

    assert (ticket.status, ticket.version) == (to, 2)
    line = HistoryEntry.objects.get()
    assert (line.by, line.actor, line.was, line.now) == ("agent", "ada", status, to)
    assert (line.reason, line.public) == ("why", True)


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("to", [Status.ACCEPTED, Status.DECLINED, Status.INCOMPLETE])
def test_tells_the_company_why(company: Company, to: Status) -> None:
    ticket = build.ticket(company, status=6)

    move(ticket, to, reason="  Send the invoice.  ")

    comment = Comment.objects.get()
    assert (comment.text, comment.public, comment.by) == ("Send the invoice.", True, "agent")
    assert (comment.actor, comment.status) == ("ada", to)


@pytest.mark.usefixtures("agent")
def test_keeps_the_reason_of_a_review_among_agents(company: Company) -> None:
    ticket = build.ticket(company, status=1)

    move(ticket, Status.IN_REVIEW, reason="the scans look odd")

    assert not Comment.objects.exists()
    assert HistoryEntry.objects.get().reason == "the scans look odd"


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("to", [Status.DECLINED, Status.INCOMPLETE])
@pytest.mark.parametrize("reason", ["", "  \n"])
def test_moves_that_need_a_reason_require_it(company: Company, to: Status, reason: str) -> None:
    ticket = build.ticket(company, status=6)

    assert "it is required to move" in refused(ticket, to, reason=reason)


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("to", list(Status))
@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_does_not_let_an_agent_touch_what_is_decided(
    company: Company, status: Status, to: Status
) -> None:
    ticket = build.ticket(company, status=status)

    message = refused(ticket, to, reason="why")

    assert ("Only a lead can reopen it." in message) == (to == Status.IN_REVIEW)


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("to", [1, 5, 10])
def test_does_not_let_an_agent_speak_for_the_company(company: Company, to: int) -> None:
    ticket = build.ticket(company, status=6)

    assert "cannot move" in refused(ticket, to, reason="why")


@pytest.mark.usefixtures("lead")
@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_lets_a_lead_reopen_with_a_reason(company: Company, status: Status) -> None:
    ticket = build.ticket(company, status=status)
    assert "it is required to move" in refused(ticket, Status.IN_REVIEW, "eve")

    assert move(ticket, Status.IN_REVIEW, "eve", reason="new proof") == "6 In review\n"

    line = HistoryEntry.objects.get()
    assert (line.by, line.actor, line.reason) == ("lead", "eve", "new proof")
    assert not Comment.objects.exists()


@pytest.mark.usefixtures("lead")
@pytest.mark.parametrize("to", [Status.ACCEPTED, Status.DECLINED, Status.INCOMPLETE])
def test_lets_a_lead_reopen_to_in_review_only(company: Company, to: Status) -> None:
    ticket = build.ticket(company, status=2 if to != Status.ACCEPTED else 3)

    assert "cannot move" in refused(ticket, to, "eve", reason="why")


def test_command_requires_an_agent(company: Company, agent: Agent) -> None:
    ticket = build.ticket(company)
    User.objects.create_user("clerk", is_staff=True)

    assert refused(ticket, 6, "zoe") == "There is no agent zoe."
    assert refused(ticket, 6, "clerk") == "clerk is not allowed to work on tickets."
    User.objects.filter(pk=agent.user_id).update(is_active=False)
    assert refused(ticket, 6, "ada") == "ada is not allowed to work on tickets."


@pytest.mark.usefixtures("agent")
def test_unknown_ticket_or_agent_is_named(company: Company) -> None:
    ticket = build.ticket(company)

    assert refused(ticket, 99) == (f"There is no status 99. There are {listed(Status)}.")
    with pytest.raises(CommandError, match="There is no ticket 0"):
        call_command("move_ticket", 0, 6, agent="ada")


def test_its_help_tells_where_agents_may_move_and_what_needs_a_reason() -> None:
    text = " ".join(Command().create_parser("manage.py", "move_ticket").format_help().split())

    assert listed(AGENT_MOVES) in text
    wanted = [f"to {move.verb.lower()}" for move in AGENT_MOVES.values() if move.needs_reason]
    assert f"required {joined([*wanted, 'to reopen'], 'and')}" in text
