"""Leads find appeals in a queue and decide them on the ticket's page (decision N14)."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tests.desk.forms import token
from tests.desk.test_queues import items, listed
from tickets import working
from tickets.changes import appeals
from tickets.changes.actors import Actor
from tickets.models import Agent, Appeal, Ticket
from tickets.statuses import By, Status

COMPANY = Actor(By.COMPANY, "tok_1")


@pytest.fixture
def lead(agent: Agent) -> Client:
    """Return a browser in which Eve has signed in."""
    client = Client()
    client.force_login(build.agent("eve", group="lead").user)
    return client


def declined(company: Company, **changes: Any) -> Ticket:
    return build.ticket(company, status=Status.DECLINED, **changes)


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    """Create a ticket that Ada has declined and the company has appealed."""
    ticket = build.ticket(company, status=Status.IN_REVIEW)
    working.move(ticket.pk, Status.DECLINED, user=agent.user, reason="No photo.")
    appeals.appeal_decision(company, ticket.pk, COMPANY, "Look <b>again</b>.")
    ticket.refresh_from_db()
    return ticket


def page(client: Client, ticket: Ticket) -> str:
    return client.get(f"/admin/tickets/ticket/{ticket.pk}/change/").content.decode()


def decide(client: Client, ticket: Ticket, decision: str, reason: str = "Why.", **more: Any) -> Any:
    form = {"decision": decision, "reason": reason, "seen": token(ticket), **more}
    return client.post(f"/admin/tickets/ticket/{ticket.pk}/appeal/", form)


def test_leads_have_a_queue_of_them_with_the_oldest_first(lead: Client, company: Company) -> None:
    long_ago = timezone.now() - timedelta(days=2)
    younger, older, decided = (declined(company) for _ in range(3))
    declined(company)
    for each in (younger, older, decided):
        appeals.appeal_decision(company, each.pk, COMPANY, "Look again.")
    Ticket.objects.filter(pk=older.pk).update(updated_at=long_ago)
    Appeal.objects.filter(ticket=decided).update(state="refused")

    assert listed(lead, queue="appeals") == [older.pk, younger.pk]
    assert items(lead)["Appeals"]["badge"] == "2"


def test_agents_have_neither_queue_nor_box_for_appeals(desk: Client, ticket: Ticket) -> None:
    assert "Appeals" not in items(desk)
    text = page(desk, ticket)
    assert "A lead decides it." in text
    assert "Accept and reopen" not in text
    assert decide(desk, ticket, "accept").status_code == 403


def test_a_ticket_shows_its_appeal_in_the_conversation(lead: Client, ticket: Ticket) -> None:
    text = page(lead, ticket)

    assert "Look &lt;b&gt;again&lt;/b&gt;." in text
    assert "The company appealed the decision." in text
    assert "Accept and reopen" in text


def test_accepting_reopens_the_ticket(lead: Client, ticket: Ticket) -> None:
    answer = decide(lead, ticket, "accept")

    assert answer.status_code == 302
    ticket.refresh_from_db()
    assert ticket.status == Status.IN_REVIEW
    assert Appeal.objects.get().state == "accepted"
    text = page(lead, ticket)
    assert "eve accepted the appeal." in text
    assert "Accept and reopen" not in text


def test_refusing_tells_the_company_why(lead: Client, ticket: Ticket) -> None:
    decide(lead, ticket, "refuse", "The label is not ours.")

    assert Appeal.objects.get().reason == "The label is not ours."
    last = ticket.conversation.latest("pk")
    assert (last.text, last.public, last.actor) == ("The label is not ours.", True, "eve")
    assert "eve refused the appeal." in page(lead, ticket)


@pytest.mark.parametrize(
    ("decision", "reason", "status", "says"),
    [
        ("refuse", "\u200b", 409, "Give a reason: the company reads why its appeal is refused."),
        ("accept", "", 409, "Give a reason: it is required"),
        ("both", "Why.", 400, "Accept and reopen"),
    ],
)
def test_invalid_decision_shows_the_form_again(
    lead: Client, ticket: Ticket, decision: str, reason: str, status: int, says: str
) -> None:
    answer = decide(lead, ticket, decision, reason)

    assert answer.status_code == status
    assert says in answer.content.decode()
    assert Appeal.objects.get().state == "pending"


def test_a_page_that_is_out_of_date_decides_nothing_and_keeps_the_text(
    lead: Client, ticket: Ticket
) -> None:
    page_token = token(ticket)
    working.write(ticket.pk, "Wait.", user=build.agent("ben").user, public=False)

    answer = decide(lead, ticket, "refuse", "My long text.", seen=page_token)

    assert answer.status_code == 409
    text = answer.content.decode()
    assert "There is something new on this ticket." in text
    assert "ben added a note " in text
    assert "My long text.</textarea>" in text
    assert Appeal.objects.get().state == "pending"


def test_form_sent_twice_decides_once(lead: Client, ticket: Ticket) -> None:
    decide(lead, ticket, "refuse")
    ticket.refresh_from_db()

    again = decide(lead, ticket, "refuse", "Another reason.")

    assert again.status_code == 409
    assert f"Ticket {ticket.pk} has no appeal to decide." in again.content.decode()
    assert "Another reason." in again.content.decode()
    assert ticket.conversation.count() == 3


@pytest.fixture
def own(company: Company, lead: Client) -> Ticket:
    """Create a ticket that Eve, a lead, has declined and the company has appealed."""
    ticket = build.ticket(company, status=Status.IN_REVIEW)
    eve = Agent.objects.get(user__username="eve").user
    working.move(ticket.pk, Status.DECLINED, user=eve, reason="No photo.")
    appeals.appeal_decision(company, ticket.pk, COMPANY, "Look again.")
    ticket.refresh_from_db()
    return ticket


@pytest.mark.parametrize("decision", ["accept", "refuse"])
def test_a_lead_does_not_decide_the_appeal_against_herself(
    lead: Client, own: Ticket, decision: str
) -> None:
    build.agent("kim", group="lead")
    for more in ({}, {"alone": "1"}):
        answer = decide(lead, own, decision, **more)
        assert answer.status_code == 409
        assert "Another lead decides its appeal." in answer.content.decode()
        assert 'name="alone"' not in answer.content.decode()
    assert own.appeals.get().is_pending

    other = Client()
    other.force_login(Agent.objects.get(user__username="kim").user)
    own.refresh_from_db()
    assert decide(other, own, decision).status_code == 302
    assert not own.appeals.get().is_pending


def test_lead_does_not_reopen_her_own_decision_by_a_move(own: Ticket) -> None:
    build.agent("kim", group="lead")
    eve = Agent.objects.get(user__username="eve").user
    with pytest.raises(appeals.OwnDecision, match="Another lead"):
        working.move(own.pk, Status.IN_REVIEW, user=eve, reason="Again.")
    own.refresh_from_db()
    assert (own.status, own.appeals.get().is_pending) == (Status.DECLINED, True)


@pytest.mark.parametrize("away", ["nobody", "inactive", "agent"])
def test_the_only_lead_confirms_and_history_records_it(
    lead: Client, own: Ticket, away: str
) -> None:
    if away != "nobody":
        user = build.agent("kim", group="agent" if away == "agent" else "lead").user
        user.is_active = away == "agent"
        user.save()
    confirmation = decide(lead, own, "refuse")
    assert confirmation.status_code == 409
    assert "there is no other lead" in confirmation.content.decode()
    assert 'name="alone" value="1"' in confirmation.content.decode()
    assert own.appeals.get().is_pending

    assert decide(lead, own, "refuse", alone="1").status_code == 302
    assert not own.appeals.get().is_pending
    sentence = "eve, the only lead, refused the appeal of their own decision."
    assert sentence in page(lead, own)


def test_lead_of_an_earlier_decision_may_decide_the_appeal(
    lead: Client, own: Ticket, agent: Agent, company: Company
) -> None:
    """Count only the appealed decision."""
    kim = build.agent("kim", group="lead").user
    working.decide_appeal(own.pk, accept=True, user=kim, reason="Look.")
    working.move(own.pk, Status.DECLINED, user=agent.user, reason="Still no photo.")
    appeals.appeal_decision(company, own.pk, COMPANY, "Again.")
    own.refresh_from_db()
    assert decide(lead, own, "refuse").status_code == 302
