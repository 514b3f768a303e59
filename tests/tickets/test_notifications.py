"""Notifications of agents about tickets: once for each kind, never about their own acts."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets import jobs, opening, updating, working
from tickets.assignment import handing_over, reassigning, taking
from tickets.changes.actors import Actor
from tickets.changes.notifications import mark_read
from tickets.changes.watching import start_watching
from tickets.models import Agent, Notification, Ticket
from tickets.statuses import By, Status

ACME = Actor(By.COMPANY, "acme")


def unread_of(agent: Agent) -> list[tuple[int, str, str]]:
    """Return an agent's unread notifications: ticket, kind and actor."""
    mine = Notification.objects.unread().filter(recipient=agent.user)
    return list(mine.order_by("ticket", "kind").values_list("ticket", "kind", "actor"))


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    return build.ticket(company, agent=agent)


@pytest.fixture
def ben(db: None) -> Agent:
    return build.agent("ben", available=False)


@pytest.fixture
def lead(db: None) -> User:
    return build.agent("eve", group="lead", available=False).user


def test_assignee_is_notified(company: Company, agent: Agent, ben: Agent, lead: User) -> None:
    new = opening.open_ticket(company, ACME, type_id=2)
    assert unread_of(agent) == [(new.pk, "assigned", "")]

    reassigning.reassign(new.pk, ben, user=lead)
    assert unread_of(ben) == [(new.pk, "assigned", "eve")]

    mark_read(agent.user)
    handing_over.hand_over(new.pk, agent, user=ben.user)
    assert unread_of(agent) == [(new.pk, "assigned", "ben")]


def test_nobody_is_notified_of_their_own_acts(company: Company, agent: Agent, lead: User) -> None:
    free, other = build.ticket(company), build.ticket(company)
    eve = Agent.objects.get(user=lead)

    taking.take_ticket(free.pk, agent.user)
    reassigning.reassign(other.pk, eve, user=lead)
    working.write(free.pk, "A note to @ada.", user=agent.user, public=False)

    assert unread_of(agent) == unread_of(eve) == []


def test_a_company_s_token_may_be_called_what_its_agent_is_called(
    company: Company, agent: Agent, ticket: Ticket
) -> None:
    updating.comment(company, ticket.pk, Actor(By.COMPANY, "ada"), "Where is it?")

    assert unread_of(agent) == [(ticket.pk, "answered", "ada")]


def test_an_answer_of_the_company_notifies_its_agent_and_watchers_alone(
    api: APIClient, ticket: Ticket, agent: Agent, ben: Agent, lead: User
) -> None:
    start_watching(ticket.pk, user=ben.user)
    start_watching(ticket.pk, user=agent.user)

    api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": "Here is the invoice."})

    assert [row[:2] for row in unread_of(agent)] == [(ticket.pk, "answered")]
    assert [row[:2] for row in unread_of(ben)] == [(ticket.pk, "watched")]
    assert Notification.objects.filter(recipient=lead).count() == 0


def test_watchers_are_notified_of_a_decision_and_of_no_other_move(
    ticket: Ticket, agent: Agent, ben: Agent
) -> None:
    start_watching(ticket.pk, user=ben.user)

    working.move(ticket.pk, Status.IN_REVIEW, user=agent.user)
    assert unread_of(ben) == []
    working.move(ticket.pk, Status.DECLINED, user=agent.user, reason="Too late.")

    assert unread_of(ben) == [(ticket.pk, "watched", "ada")]


def test_unread_notification_is_renewed_and_not_repeated(
    company: Company, ticket: Ticket, agent: Agent
) -> None:
    updating.comment(company, ticket.pk, ACME, "First.")
    first = Notification.objects.get()
    updating.comment(company, ticket.pk, ACME, "Second.")

    again = Notification.objects.get()
    assert again.created_at > first.created_at
    assert mark_read(agent.user, ticket_id=ticket.pk) == 1
    updating.comment(company, ticket.pk, ACME, "Third.")
    assert Notification.objects.count() == 2
    assert unread_of(agent) == [(ticket.pk, "answered", "acme")]


def test_only_one_s_own_notifications_are_marked_as_read(
    company: Company, ticket: Ticket, agent: Agent, ben: Agent
) -> None:
    start_watching(ticket.pk, user=ben.user)
    updating.comment(company, ticket.pk, ACME, "First.")
    updating.comment(company, build.ticket(company, agent=agent).pk, ACME, "Elsewhere.")

    assert mark_read(agent.user, ticket_id=ticket.pk) == 1
    assert mark_read(agent.user) == 1
    assert mark_read(agent.user) == 0
    assert len(unread_of(ben)) == 1


def test_a_note_notifies_those_whom_it_names(ticket: Ticket, agent: Agent, ben: Agent) -> None:
    working.write(ticket.pk, "Ask @ben, says @ada.", user=agent.user, public=False)

    assert unread_of(ben) == [(ticket.pk, "mentioned", "ada")]


def test_a_company_cannot_mention_an_agent(company: Company, ticket: Ticket, ben: Agent) -> None:
    updating.comment(company, ticket.pk, ACME, "Hello @ben")

    assert unread_of(ben) == []


def test_inactive_agent_is_not_notified(company: Company, ticket: Ticket, agent: Agent) -> None:
    User.objects.update(is_active=False)

    updating.comment(company, ticket.pk, ACME, "Anybody?")

    assert unread_of(agent) == []


def test_an_agent_hears_once_that_a_ticket_is_about_to_be_late(
    company: Company, agent: Agent
) -> None:
    now = timezone.now()
    for due in (-1, 1, 100, 130):
        build.ticket(company, agent=agent, due_at=now + timedelta(minutes=due))
    build.ticket(company, agent=agent, due_at=now + timedelta(minutes=9), status=Status.ACCEPTED)
    build.ticket(company, due_at=now + timedelta(minutes=9))

    assert jobs.notify_of_late_tickets() == 2
    soon = Ticket.objects.order_by("pk")[1:3]
    assert unread_of(agent) == [(one.pk, "late", "") for one in soon]

    mark_read(agent.user)
    assert jobs.notify_of_late_tickets() == 0
    assert unread_of(agent) == []

    # It was paused, and is now due at another time.
    Notification.objects.update(created_at=now - timedelta(hours=2))
    assert jobs.notify_of_late_tickets() == 2


def test_whoever_gets_a_ticket_that_is_about_to_be_late_is_notified_as_well(
    ticket: Ticket, agent: Agent, ben: Agent
) -> None:
    Ticket.objects.update(due_at=timezone.now() + timedelta(minutes=30))
    assert jobs.notify_of_late_tickets() == 1

    Ticket.objects.update(agent=ben)

    assert jobs.notify_of_late_tickets() == 1
    assert unread_of(agent) == unread_of(ben) == [(ticket.pk, "late", "")]


def test_a_refused_move_notifies_nobody(ticket: Ticket, agent: Agent, ben: Agent) -> None:
    start_watching(ticket.pk, user=ben.user)

    with pytest.raises(working.MoveRefused):
        working.move(ticket.pk, Status.DECLINED, user=agent.user)

    assert Notification.objects.count() == 0
