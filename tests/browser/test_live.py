"""A company's acts appear on open pages without moving what an agent reads or types there."""

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from companies.models import Company
from tests import builders as build
from tests.browser.chromium import Tab
from tests.browser.test_shift import Call, calls
from tickets import working
from tickets.assignment import reassigning
from tickets.changes.page_tokens import page_token_of
from tickets.models import Agent, Notification, Ticket

__all__ = ["calls"]

LIST = "/admin/tickets/ticket/"
LONG = "A line of the story.\n" * 40


@pytest.fixture
def ada(live_server: LiveServer) -> Agent:
    return build.agent("ada", available=False)


def test_an_answer_appears_on_its_ticket_and_in_the_queue_while_somebody_reads_and_types(
    tab: Tab, desk: Client, calls: Call, company: Company, ada: Agent
) -> None:
    ticket = build.ticket(company, agent=ada, comments=LONG)
    working.write(ticket.pk, LONG, user=ada.user, public=False)
    token_before = str(page_token_of(ticket))
    tab.sign_in(desk)
    tab.visit(f"{LIST}{ticket.pk}/change/")
    tab.sees("#thread")
    tab.do(lambda page: page.locator("#text").fill("Dear company,"))
    tab.do(lambda page: page.evaluate("document.getElementById('thread').scrollTop = 40"))

    place = top_of_composer(tab)

    answer(calls, ticket, "It has arrived.")

    tab.sees("#live-below", "1 new message: show")
    assert (scrolled(tab), top_of_composer(tab)) == (40, place)
    assert tab.value("#text") == "Dear company,"
    assert tab.value("#composer [name=seen]") == token_before
    tab.do(lambda page: page.locator("#live-below").click())
    tab.sees(".desk-company", "It has arrived.")
    now = str(page_token_of(Ticket.objects.get()))
    tab.wait_for(RAISED, now)
    tab.misses("#live-below")
    assert not Notification.objects.unread().exists()

    tab.visit(f"{LIST}?queue=mine")
    tab.sees("#result_list tr.data-row")
    answer(calls, ticket, "And it is broken.")
    tab.sees("tr.desk-row-changed", "And it is broken.")
    tab.sees(".desk-toast", f"Acme answered on ticket #{ticket.pk}.")
    assert tab.do(lambda page: page.title()).startswith("(1) ")
    working_on = build.ticket(company)
    give(working_on, ada)
    tab.sees("#live-came", "1 new ticket: show")
    assert tab.do(lambda page: page.locator("tr.data-row").count()) == 1


@pytest.mark.slow
def test_page_hears_of_changes_before_its_first_poll(
    tab: Tab, desk: Client, calls: Call, company: Company, ada: Agent
) -> None:
    ticket = build.ticket(company, agent=ada)
    answer(calls, ticket, "Counted already.")
    tab.sign_in(desk)
    tab.do(
        lambda page: page.route(
            "**/admin/live/?*", lambda route: route.fulfill(status=204), times=1
        )
    )
    tab.visit(LIST)
    tab.sees("#desk-bell-count", "1")

    later = build.ticket(company, agent=ada)
    answer(calls, later, "It is broken.")

    tab.sees(".desk-toast", f"Acme answered on ticket #{later.pk}.")
    assert tab.do(lambda page: page.locator(".desk-toast").count()) == 1


RAISED = "token => document.querySelector('#composer [name=seen]').value === token"


def answer(calls: Call, ticket: Ticket, text: str) -> None:
    calls("POST", f"/company/tickets/{ticket.pk}/comments", comment=text)


def give(ticket: Ticket, agent: Agent) -> None:
    lead = build.agent("eve", group="lead", available=False)
    reassigning.reassign(ticket.pk, agent, user=lead.user)


def top_of_composer(tab: Tab) -> float:
    return float(tab.do(lambda page: page.locator("#composer").bounding_box()["y"]))


def scrolled(tab: Tab) -> int:
    return int(tab.do(lambda page: page.evaluate("document.getElementById('thread').scrollTop")))
