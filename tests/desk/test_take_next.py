"""Take next, claim, and go on: nobody gets a ticket that somebody else has."""

from datetime import timedelta
from functools import partial

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tests.desk.forms import picked, token
from tests.tickets.racing import racers
from tickets.assignment import taking
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"


def take(desk: Client) -> int | None:
    """Return the id of the ticket that the agent is led to; None for the list."""
    answer = desk.post(f"{LIST}take/")
    assert answer.status_code == 302
    return None if answer["Location"] == LIST else int(answer["Location"].split("/")[-3])


def in_hours(hours: float) -> dict[str, object]:
    return {"due_at": timezone.now() + timedelta(hours=hours)}


def test_takes_what_is_due_first_then_the_oldest(
    desk: Client, company: Company, agent: Agent
) -> None:
    old = build.ticket(company)
    young = build.ticket(company)
    later = build.ticket(company, **in_hours(5))
    sooner = build.ticket(company, **in_hours(1))
    build.ticket(company, agent=build.agent("ben"), **in_hours(-5))
    build.ticket(company, status=Status.INCOMPLETE)
    build.ticket(company, status=Status.ACCEPTED)

    assert [take(desk) for _ in range(4)] == [sooner.pk, later.pk, old.pk, young.pk]

    assert Ticket.objects.filter(agent=agent).count() == 4
    line = HistoryEntry.objects.get(ticket=later)
    assert (line.by, line.actor, line.public) == ("agent", "ada", False)
    assert (line.kind, line.reason) == ("taken", "")
    assert line.data == {
        "agent": [None, "ada"],
        "rule": "most_urgent",
        "loads": {"ada": [1, 50]},
    }
    later.refresh_from_db()
    assert later.version == 2


def test_goes_on_with_one_s_own_when_nothing_waits(
    desk: Client, company: Company, agent: Agent
) -> None:
    build.ticket(company, agent=agent, **in_hours(5))
    urgent = build.ticket(company, agent=agent, **in_hours(1))
    build.ticket(company, agent=agent, status=Status.INCOMPLETE)

    assert take(desk) == urgent.pk
    assert not HistoryEntry.objects.exists()

    Ticket.objects.update(status=Status.ACCEPTED)
    assert take(desk) is None


def test_gives_nobody_what_they_do_not_take(desk: Client, company: Company, agent: Agent) -> None:
    agent.skills.set([5])
    build.ticket(company, type_id=4, **in_hours(-1))
    mine = build.ticket(company, type_id=5)

    assert take(desk) == mine.pk
    assert take(desk) == mine.pk


def test_gives_nothing_to_who_is_no_agent(operator: Client, company: Company) -> None:
    ticket = build.ticket(company)

    assert take(operator) is None
    operator.post(f"{LIST}{ticket.pk}/claim/", {"seen": token(ticket)})
    ticket.refresh_from_db()
    assert ticket.agent is None
    assert not HistoryEntry.objects.exists()


def test_claims_a_ticket_that_nobody_has(desk: Client, company: Company, agent: Agent) -> None:
    ticket = build.ticket(company, status=Status.INCOMPLETE)
    address = f"{LIST}{ticket.pk}/change/"
    assert 'id="claim"' in desk.get(address).content.decode()

    assert desk.post(f"{LIST}{ticket.pk}/claim/", {"seen": token(ticket)})["Location"] == address

    ticket.refresh_from_db()
    assert ticket.agent == agent
    line = HistoryEntry.objects.get()
    assert (line.kind, line.reason, line.data["rule"]) == ("taken", "", "agent_choice")
    assert 'id="claim"' not in desk.get(address).content.decode()


@pytest.mark.parametrize("status", [Status.IN_REVIEW, Status.ACCEPTED])
def test_claims_neither_another_s_ticket_nor_a_decided_one(
    desk: Client, company: Company, status: Status
) -> None:
    ben = None if status == Status.ACCEPTED else build.agent("ben")
    ticket = build.ticket(company, agent=ben, status=status)

    desk.post(f"{LIST}{ticket.pk}/claim/", {"seen": token(ticket)})

    ticket.refresh_from_db()
    assert ticket.agent == ben
    assert not HistoryEntry.objects.exists()


def test_goes_to_the_next_of_the_queue_and_round(
    desk: Client, company: Company, agent: Agent
) -> None:
    first, second, third = (
        build.ticket(company, agent=agent, status=Status.IN_REVIEW, **in_hours(hours))
        for hours in (1, 2, 3)
    )

    def write_and_next(ticket: Ticket) -> str:
        body = {"text": "x", "note": "1", "next": "1", "seen": token(ticket)}
        return desk.post(f"{LIST}{ticket.pk}/write/", body)["Location"]

    assert write_and_next(first) == f"{LIST}{second.pk}/change/"
    assert write_and_next(third) == f"{LIST}{first.pk}/change/"

    body = {**picked(second), "reason": "No.", "code": "other", "next": "1"}
    assert desk.post(f"{LIST}move/3/", body)["Location"] == f"{LIST}{first.pk}/change/"
    assert Ticket.objects.get(pk=second.pk).status == Status.DECLINED


def test_takes_one_when_one_s_own_queue_is_done(
    desk: Client, company: Company, agent: Agent
) -> None:
    last = build.ticket(company, agent=agent, status=Status.IN_REVIEW)
    waiting = build.ticket(company)

    body = {"text": "x", "reply": "1", "to": "2", "code": "other", "next": "1", "seen": token(last)}
    answer = desk.post(f"{LIST}{last.pk}/write/", body)

    assert answer["Location"] == f"{LIST}{waiting.pk}/change/"
    waiting.refresh_from_db()
    assert waiting.agent == agent


@pytest.mark.usefixtures("rows_to_keep")
def test_gives_no_two_agents_the_same_ticket(transactional_db: None) -> None:
    company = build.company()
    for number in range(40):
        build.ticket(company, **(in_hours(number) if number % 2 else {}))
    users = [build.agent(f"agent-{number}").user for number in range(8)]

    with racers(8) as together:
        taken_ids = [
            ticket
            for _ in range(6)
            for ticket in together.run([partial(taking.take_next, user) for user in users])
        ]

    ids = [ticket.pk for ticket in taken_ids if ticket is not None]
    assert len(ids) == len(set(ids)) == 40
    assert taken_ids[40:] == [None] * 8
    assert HistoryEntry.objects.count() == 40
    for ticket in Ticket.objects.select_related("agent__user"):
        assert ticket.history.get().actor == str(ticket.agent)
