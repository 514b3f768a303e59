"""Tickets assigned by hand: permissions, history, and the effects on other tickets."""

from functools import partial

import pytest
from django.contrib.auth.models import User

from companies.models import Company
from tests import builders as build
from tests.tickets.racing import in_order
from tickets import working
from tickets.assignment import reassigning
from tickets.assignment.reassigning import (
    AssignmentRefused,
    reassign,
    reassign_all,
    reassign_all_of,
)
from tickets.changes.actors import NotAllowed
from tickets.changes.page_tokens import PageToken, page_token_of
from tickets.changes.writes import StaleTicket
from tickets.models import Agent, HistoryEntry, Ticket
from tickets.statuses import Status


@pytest.fixture
def eve(db: None) -> User:
    """Create a lead, who takes no tickets herself."""
    return build.agent("eve", group="lead", available=False).user


@pytest.fixture
def bob(db: None) -> Agent:
    return build.agent("bob", capacity=2)


def agents_of(*tickets: Ticket) -> list[str | None]:
    agents = dict(Ticket.objects.values_list("pk", "agent__user__username"))
    return [agents[ticket.pk] for ticket in tickets]


def test_gives_a_ticket_and_says_who_and_why(
    company: Company, agent: Agent, bob: Agent, eve: User
) -> None:
    ticket = build.ticket(company, agent=agent)

    reassign(ticket.pk, bob, user=eve, reason="Knows the carrier.", seen=page_token_of(ticket))

    ticket.refresh_from_db()
    bob.refresh_from_db()
    assert (ticket.agent, ticket.version, ticket.status) == (bob, 2, Status.PENDING)
    assert bob.last_assigned_at
    line = HistoryEntry.objects.get()
    assert (line.by, line.actor, line.public) == ("lead", "eve", False)
    assert (line.kind, line.reason) == ("reassigned", "Knows the carrier.")
    assert line.data == {
        "agent": ["ada", "bob"],
        "rule": "lead_choice",
        "loads": {"bob": [0, 2]},
    }


def test_gives_more_than_a_capacity_and_says_so(company: Company, bob: Agent, eve: User) -> None:
    for _ in range(2):
        build.ticket(company, agent=bob)
    ticket = build.ticket(company)

    reassign(ticket.pk, bob, user=eve)

    assert agents_of(ticket) == ["bob"]
    line = HistoryEntry.objects.get()
    assert line.data["agent"] == [None, "bob"]
    assert line.data["loads"] == {"bob": [2, 2]}


def test_automatic_reassignment_excludes_the_previous_agent(
    company: Company, agent: Agent, bob: Agent, eve: User
) -> None:
    for _ in range(1):
        build.ticket(company, agent=bob)
    ticket = build.ticket(company, agent=agent)

    reassign(ticket.pk, None, user=eve, reason="Away all week.")

    assert agents_of(ticket) == ["bob"]
    by_hand, by_rule = HistoryEntry.objects.order_by("pk")
    assert (by_hand.kind, by_hand.reason) == ("reassigned", "Away all week.")
    assert by_hand.data == {"agent": ["ada", None], "rule": "least_busy"}
    assert (by_rule.kind, by_rule.by) == ("assigned", "system")
    assert by_rule.data["agent"] == [None, "bob"]


def test_leaves_a_ticket_to_the_sweep_when_nobody_else_takes_it(
    company: Company, agent: Agent, eve: User
) -> None:
    ticket = build.ticket(company, agent=agent)

    reassign(ticket.pk, None, user=eve)

    assert agents_of(ticket) == [None]


def test_nobody_but_a_lead_gives_tickets(company: Company, agent: Agent, bob: Agent) -> None:
    ticket = build.ticket(company, agent=agent)

    for attempt in (
        partial(reassign, ticket.pk, bob, user=bob.user),
        partial(reassign_all, [(ticket.pk, page_token_of(ticket))], bob, user=bob.user),
        partial(reassign_all_of, agent, bob, user=bob.user),
    ):
        with pytest.raises(NotAllowed):
            attempt()

    assert agents_of(ticket) == ["ada"]
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize("hindrance", ["decided", "theirs already", "left", "stale"])
def test_refused_reassignment_stores_nothing(
    company: Company, agent: Agent, bob: Agent, eve: User, hindrance: str
) -> None:
    status = Status.ACCEPTED if hindrance == "decided" else Status.PENDING
    ticket = build.ticket(company, agent=agent, status=status)
    to = agent if hindrance == "theirs already" else bob
    User.objects.filter(pk=bob.user_id).update(is_active=hindrance != "left")
    before = list(Ticket.objects.values())

    page_token = page_token_of(ticket)
    if hindrance == "stale":
        working.write(ticket.pk, "Keep it.", user=agent.user, public=False)

    with pytest.raises((AssignmentRefused, StaleTicket)):
        reassign(ticket.pk, to, user=eve, seen=page_token)

    assert list(Ticket.objects.values()) == before
    assert not HistoryEntry.objects.exists()
    bob.refresh_from_db()
    assert bob.last_assigned_at is None


def test_bulk_reassignment_names_changed_tickets(
    company: Company, agent: Agent, bob: Agent, eve: User
) -> None:
    tickets = [build.ticket(company, agent=agent) for _ in range(3)]
    picked = [(one.pk, page_token_of(one)) for one in tickets]
    working.write(tickets[1].pk, "Keep it.", user=agent.user, public=False)

    outcome = reassign_all([*picked, (0, PageToken(0))], bob, user=eve)

    assert str(outcome) == "2 tickets assigned. 2 tickets were not assigned."
    assert set(outcome.refused) == {tickets[1].pk, 0}
    assert agents_of(*tickets) == ["bob", "ada", "bob"]


def test_tickets_of_a_leaver_are_reassigned(
    company: Company, agent: Agent, bob: Agent, eve: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    cat = build.agent("cat")
    waiting = build.ticket(company, agent=agent, status=Status.INCOMPLETE)
    running = [build.ticket(company, agent=agent) for _ in range(3)]
    decided = build.ticket(company, agent=agent, status=Status.DECLINED)
    Agent.objects.filter(pk=agent.pk).update(available=False)
    monkeypatch.setattr(reassigning, "MOST_AT_ONCE", 3)

    assert reassign_all_of(agent, None, user=eve).remaining == 1
    assert reassign_all_of(agent, None, user=eve).remaining == 0

    assert sorted(agents_of(*running)) == ["bob", "cat", "cat"] or sorted(agents_of(*running)) == [
        "bob",
        "bob",
        "cat",
    ]
    # A ticket that waits for its company goes to nobody until the company answers.
    assert agents_of(waiting, decided) == [None, "ada"]
    assert cat.tickets.exists()


def test_tickets_of_a_leaver_go_to_one_agent(
    company: Company, agent: Agent, bob: Agent, eve: User
) -> None:
    tickets = [build.ticket(company, agent=agent, status=status) for status in (1, 4)]

    assert reassign_all_of(agent, bob, user=eve).remaining == 0

    assert agents_of(*tickets) == ["bob", "bob"]


def test_stops_when_the_recipient_has_left(
    company: Company, agent: Agent, bob: Agent, eve: User
) -> None:
    ticket = build.ticket(company, agent=agent)
    User.objects.filter(pk=bob.user_id).update(is_active=False)

    with pytest.raises(AssignmentRefused, match="bob is no longer active"):
        reassign_all_of(agent, bob, user=eve)

    assert agents_of(ticket) == ["ada"]


@pytest.mark.usefixtures("rows_to_keep")
def test_ticket_decided_first_keeps_its_agent(transactional_db: None) -> None:
    acme, ada, bob = build.company(), build.agent("ada"), build.agent("bob")
    eve = build.agent("eve", group="lead").user
    ticket = build.ticket(acme, agent=ada)

    _, refused = in_order(
        partial(working.move, ticket.pk, Status.ACCEPTED, user=ada.user),
        partial(reassign, ticket.pk, bob, user=eve),
    )

    assert isinstance(refused, AssignmentRefused)
    assert agents_of(ticket) == ["ada"]


@pytest.mark.usefixtures("rows_to_keep")
def test_move_from_an_older_page_is_stale(transactional_db: None) -> None:
    acme, ada, bob = build.company(), build.agent("ada"), build.agent("bob")
    eve = build.agent("eve", group="lead").user
    ticket = build.ticket(acme, agent=ada)

    _, refused = in_order(
        partial(reassign, ticket.pk, bob, user=eve),
        partial(
            working.move, ticket.pk, Status.ACCEPTED, user=ada.user, seen=page_token_of(ticket)
        ),
    )

    assert isinstance(refused, StaleTicket)
    assert Ticket.objects.get().status == Status.PENDING
