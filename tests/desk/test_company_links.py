"""Links to a ticket at the desk: how many open it, and the button that ends them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from companies.models import AuditEntry, Company
from desk.ticket import company_links, history_words
from portal import access
from portal.visitors import ACTOR
from tests import builders as build
from tests.desk.words import words
from tickets.changes.actors import Actor, NotAllowed
from tickets.models import HistoryEntry, Ticket
from tickets.statuses import By


@pytest.fixture(autouse=True)
def address(settings: Settings) -> None:
    settings.PUBLIC_URL = "http://testserver"


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


def signed_in(name: str, group: str) -> Client:
    client = Client()
    client.force_login(build.agent(name, group=group).user)
    return client


def page_of(client: Client, ticket: Ticket) -> str:
    answer = client.get(f"/admin/tickets/ticket/{ticket.pk}/change/")
    assert answer.status_code == 200
    return answer.content.decode()


def end_links(client: Client, ticket: Ticket) -> int:
    return client.post(f"/admin/tickets/ticket/{ticket.pk}/end-links/").status_code


def test_an_agent_ends_the_links_to_one_ticket(company: Company, ticket: Ticket) -> None:
    other = build.ticket(company)
    links = [access.link_to(each) for each in (ticket, ticket, other)]
    agent = signed_in("ada", "agent")
    assert "2 links open this ticket" in words(page_of(agent, ticket))

    assert end_links(agent, ticket) == 302

    text = words(page_of(agent, ticket))
    assert "2 links were ended. The next email about the ticket has a new one." in text
    assert "open this ticket" not in text
    codes = [Client().get(link).status_code for link in links]
    assert codes == [410, 410, 302]
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.actor, entry.via) == ("revoke_links", "ada", "desk")
    assert (entry.about, entry.company_id) == (f"ticket {ticket.pk}", company.pk)
    assert entry.details == {"ended": 2}


def test_ending_none_is_no_act(ticket: Ticket) -> None:
    assert end_links(signed_in("ada", "agent"), ticket) == 302
    assert not AuditEntry.objects.exists()


def test_those_who_only_look_see_the_number_and_no_button(ticket: Ticket) -> None:
    access.link_to(ticket)
    user = User.objects.create_user("vera", is_staff=True)
    user.groups.add(build.role("auditor"))
    auditor = Client()
    auditor.force_login(user)

    html = page_of(auditor, ticket)

    assert "1 link opens this ticket" in words(html)
    assert 'id="end-links"' not in html
    assert end_links(auditor, ticket) == 403
    with pytest.raises(NotAllowed):
        company_links.end_links(ticket, user)
    assert ticket.links.filter(ended_at=None).count() == 1


def test_a_form_of_elsewhere_ends_nothing(ticket: Ticket) -> None:
    access.link_to(ticket)
    client = Client(enforce_csrf_checks=True)
    client.force_login(build.agent("ada").user)

    assert end_links(client, ticket) == 403
    assert client.get(f"/admin/tickets/ticket/{ticket.pk}/end-links/").status_code == 405
    assert ticket.links.filter(ended_at=None).exists()


@pytest.mark.parametrize("traces", [True, False])
def test_history_says_what_was_done_on_the_page(ticket: Ticket, traces: bool) -> None:
    def entry(actor: Actor) -> HistoryEntry:
        return HistoryEntry(
            ticket=ticket, kind="moved", by=actor.by, actor=actor.name, was=4, now=5, data={}
        )

    on_page = history_words.line(entry(ACTOR), traces=traces)
    by_api = history_words.line(entry(Actor(By.COMPANY, "test_1")), traces=traces)
    by_agent = history_words.line(entry(Actor(By.AGENT, "page")), traces=traces)

    assert on_page.details == ["On the company's page"]
    assert on_page.who == "company"
    assert by_api.details == (["API token test_1"] if traces else [])
    assert by_agent.details == []
