"""Agents take tickets themselves: the most urgent that nobody has, or one of their choice."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tickets.assignment.reassigning import AssignmentRefused
from tickets.assignment.taking import next_of, take_next, take_ticket
from tickets.changes.actors import NotAllowed
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import Status


def due_in(company: Company, hours: int, **changes: object) -> Ticket:
    return build.ticket(company, due_at=timezone.now() + timedelta(hours=hours), **changes)


def test_takes_the_most_urgent_that_nobody_has(company: Company, agent: Agent) -> None:
    due_in(company, 3)
    urgent = due_in(company, 2)
    due_in(company, 1, agent=build.agent("bob"))

    assert take_next(agent.user) == urgent

    urgent.refresh_from_db()
    assert (urgent.agent, urgent.version) == (agent, 2)
    line = HistoryEntry.objects.get()
    assert (line.kind, line.data["rule"], line.data["agent"]) == (
        "taken",
        "most_urgent",
        [None, "ada"],
    )


def test_takes_only_what_the_agent_can_answer(company: Company) -> None:
    skilled = build.agent("eva", skills=[4])
    due_in(company, 1, type_id=3)
    fitting = due_in(company, 2, type_id=4)

    assert take_next(skilled.user) == fitting
    assert take_next(skilled.user) is None


def test_takes_the_one_that_was_chosen(company: Company, agent: Agent) -> None:
    due_in(company, 1)
    chosen = due_in(company, 2)

    take_ticket(chosen.pk, agent.user)

    chosen.refresh_from_db()
    assert (chosen.agent, chosen.version) == (agent, 2)
    assert HistoryEntry.objects.get().data["rule"] == "agent_choice"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"agent": "bob"}, "already assigned to bob"),
        ({"agent": "ada"}, "already assigned to ada"),
        ({"status": Status.ACCEPTED}, "is Accepted"),
    ],
)
def test_leaves_what_somebody_has_and_what_is_decided(
    company: Company, agent: Agent, changes: dict[str, object], says: str
) -> None:
    agents = {"ada": agent, "bob": build.agent("bob")}
    if "agent" in changes:
        changes = {"agent": agents[str(changes["agent"])]}
    ticket = build.ticket(company, **changes)

    with pytest.raises(AssignmentRefused, match=says):
        take_ticket(ticket.pk, agent.user)

    holder = ticket.agent
    ticket.refresh_from_db()
    assert (ticket.agent, ticket.version) == (holder, 1)
    assert not HistoryEntry.objects.exists()


def test_non_agent_takes_nothing(company: Company) -> None:
    build.ticket(company)
    lead = User.objects.create_superuser("root")

    with pytest.raises(NotAllowed, match="root is not an agent"):
        take_next(lead)


def test_goes_round_by_urgency(company: Company, agent: Agent) -> None:
    first, second = (due_in(company, hours, agent=agent) for hours in (1, 2))
    due_in(company, 3, agent=agent, status=Status.INCOMPLETE)

    assert next_of(agent) == first
    assert next_of(agent, first) == second
    assert next_of(agent, second) == first
