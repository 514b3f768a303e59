"""An agent decides while somebody else changes the same ticket."""

from contextlib import suppress
from functools import partial
from uuid import uuid4

import pytest

from companies.models import Company
from tests import builders as build
from tests.conftest import signed_in
from tests.tickets.racing import in_order, racers
from tickets import updating, working
from tickets.changes.actors import Actor
from tickets.changes.page_tokens import PageToken, page_token_of
from tickets.changes.relating import relate
from tickets.changes.snoozing import snooze
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.models import Agent, Comment, HistoryEntry, RelatedTickets, Snooze, Ticket
from tickets.opening import open_for_caller
from tickets.statuses import By, Status

pytestmark = pytest.mark.usefixtures("rows_to_keep")
CALLER = Actor(By.COMPANY, "test")


@pytest.fixture
def acme(transactional_db: None) -> Company:
    return build.company()


@pytest.fixture
def ada(transactional_db: None) -> Agent:
    return build.agent("ada")


def test_the_decision_wins_over_a_comment_that_comes_at_once(acme: Company, ada: Agent) -> None:
    client = signed_in(acme)
    outcomes = set()
    with racers(2) as together:
        for _ in range(25):
            ticket = build.ticket(acme, status=Status.IN_REVIEW)
            commenting = partial(
                client.post, f"/company/tickets/{ticket.pk}/comments", {"comment": "Wait!"}
            )
            deciding = partial(working.move, ticket.pk, Status.ACCEPTED, user=ada.user)
            answer, _ = together.run([commenting, deciding])

            ticket.refresh_from_db()
            assert ticket.status == Status.ACCEPTED
            moves = list(ticket.history.values_list("was", "now"))
            if answer.status_code == 422:
                assert not ticket.conversation.exists()
                assert moves == [(6, 2)]
            else:
                assert ticket.conversation.get().status == Status.FOLLOW_UP
                assert moves == [(6, 5), (5, 2)]
            outcomes.add(answer.status_code)

    assert outcomes <= {200, 422}


def test_a_comment_that_waited_for_the_decision_is_blocked(acme: Company, ada: Agent) -> None:
    ticket = build.ticket(acme, status=Status.IN_REVIEW)

    _, comment = in_order(
        partial(working.move, ticket.pk, Status.DECLINED, user=ada.user, reason="no proof"),
        partial(updating.comment, acme, ticket.pk, CALLER, "Wait!"),
    )

    ticket.refresh_from_db()
    assert isinstance(comment, updating.TicketClosed)
    assert ticket.status == Status.DECLINED
    assert Comment.objects.get().text == "no proof"


def test_a_decision_that_waited_for_the_comment_still_falls(acme: Company, ada: Agent) -> None:
    ticket = build.ticket(acme, status=Status.IN_REVIEW)

    in_order(
        partial(updating.comment, acme, ticket.pk, CALLER, "Wait!"),
        partial(working.move, ticket.pk, Status.ACCEPTED, user=ada.user),
    )

    ticket.refresh_from_db()
    assert ticket.status == Status.ACCEPTED
    assert list(ticket.history.values_list("was", "now")) == [(6, 5), (5, 2)]


def test_one_of_two_contrary_decisions_falls(acme: Company, ada: Agent) -> None:
    bob = build.agent("bob")
    ticket = build.ticket(acme, status=Status.IN_REVIEW)

    _, second = in_order(
        partial(working.move, ticket.pk, Status.ACCEPTED, user=ada.user),
        partial(working.move, ticket.pk, Status.DECLINED, user=bob.user, reason="no proof"),
    )

    assert isinstance(second, MoveRefused)
    assert Ticket.objects.get().status == Status.ACCEPTED
    assert not Comment.objects.exists()
    assert HistoryEntry.objects.count() == 1


def test_of_two_forms_for_one_caller_that_come_at_once_one_opens_a_ticket(
    acme: Company, ada: Agent
) -> None:
    send = partial(
        open_for_caller, acme, user=ada.user, key=uuid4(), mine=True, type_id=2, comments="Hello."
    )

    first, second = in_order(send, send)

    assert first == second == Ticket.objects.get()


def test_two_agents_link_the_same_tickets_at_once(acme: Company, ada: Agent) -> None:
    ben = build.agent("ben")
    one, other = build.ticket(acme), build.ticket(acme)

    results = in_order(
        partial(relate, one.pk, other.pk, user=ada.user),
        partial(relate, other.pk, one.pk, user=ben.user),
    )

    assert results == [None, None]
    assert RelatedTickets.objects.count() == 1
    assert HistoryEntry.objects.count() == 2


def test_a_comment_at_the_moment_of_snoozing_leaves_it_awake(acme: Company, ada: Agent) -> None:
    """Whichever comes first: the comment is unread, or it brings the ticket back."""
    client = signed_in(acme)
    with racers(2) as together:
        for _ in range(25):
            ticket = build.ticket(acme, status=Status.IN_REVIEW, agent=ada)
            commenting = partial(
                client.post, f"/company/tickets/{ticket.pk}/comments", {"comment": "Here it is."}
            )
            snoozing_it = partial(snooze_or_read, ticket.pk, ada, page_token_of(ticket))
            together.run([commenting, snoozing_it])

            assert ticket.conversation.exists()
            assert not Snooze.objects.filter(ticket=ticket).exists()


def snooze_or_read(ticket_id: int, agent: Agent, page_token: PageToken) -> None:
    with suppress(StaleTicket):
        snooze(ticket_id, None, user=agent.user, seen=page_token)
