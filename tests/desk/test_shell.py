"""The frame of every page: its heading, the bar below, and the format of times."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client

from companies.models import Company
from tests import builders as build
from tests.desk.words import words
from tickets.models import Agent, Ticket

LIST = "/admin/tickets/ticket/"
SAVING = 'id="submit-row"'


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    return build.ticket(company, agent=agent)


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead").user)
    return client


def heading(client: Client, address: str) -> str:
    html = client.get(address).content.decode()
    return words(html[html.index("<h1") : html.index("</h1>")]).replace("chevron_right", ">")


def test_the_heading_leads_to_the_list_without_a_word_twice(
    lead: Client, ticket: Ticket, company: Company, agent: Agent
) -> None:
    hook = build.webhook(company)

    assert heading(lead, LIST) == "Tickets"
    assert heading(lead, f"{LIST}{ticket.pk}/change/") == f"Mine > Ticket {ticket.pk}"
    assert heading(lead, f"/admin/webhooks/webhook/{hook.pk}/change/").startswith("Webhooks > ")
    assert heading(lead, f"/admin/tickets/agent/{agent.pk}/change/") == "Agents > ada"


def test_a_page_of_its_own_says_what_it_is_for(
    lead: Client, ticket: Ticket, company: Company, agent: Agent
) -> None:
    hook = build.webhook(company)
    query = f"?ticket={ticket.pk}"

    assert heading(lead, f"{LIST}move/3/{query}") == f"Decline: ticket {ticket.pk}"
    assert heading(lead, f"{LIST}give/{query}") == "Assign tickets"
    assert heading(lead, f"{LIST}events/") == "Find a missing event"
    assert heading(lead, f"/admin/webhooks/webhook/pause/?webhook={hook.pk}") == (
        "Reason for the pause"
    )
    assert heading(lead, f"/admin/tickets/agent/{agent.pk}/hand-over/") == (
        "Reassign the tickets of ada"
    )


def test_a_move_and_a_gift_of_one_ticket_are_cancelled_to_that_ticket(
    lead: Client, ticket: Ticket, company: Company
) -> None:
    other = build.ticket(company)
    for page in ("move/3/", "give/"):
        one = lead.get(f"{LIST}{page}?ticket={ticket.pk}").content.decode()
        both = lead.get(f"{LIST}{page}?ticket={ticket.pk}&ticket={other.pk}").content.decode()

        assert cancel(one).startswith(f'"{LIST}{ticket.pk}/change/')
        assert cancel(both).startswith(f'"{LIST}"')


def cancel(html: str) -> str:
    return html[: html.index(">Cancel<")].rpartition("href=")[2]


def test_counts_beside_the_heading_only_what_is_narrowed_down(lead: Client) -> None:
    assert heading(lead, "/admin/tickets/agent/") == "Agents"
    assert heading(lead, "/admin/tickets/agent/?q=eve") == "Agents 1 found"


def test_no_bar_lies_over_what_can_only_be_read(
    desk: Client, lead: Client, company: Company
) -> None:
    page = f"/admin/webhooks/webhook/{build.webhook(company).pk}/change/"
    macro = f"/admin/desk/macro/{build.macro().pk}/change/"

    assert SAVING not in desk.get(page).content.decode()
    assert SAVING not in desk.get(macro).content.decode()
    assert SAVING in lead.get(macro).content.decode()
    assert SAVING in lead.get("/admin/desk/macro/add/").content.decode()


def test_lists_and_forms_write_times_as_the_desk_does(operator: Client) -> None:
    joined = datetime(2026, 3, 2, 15, 4, tzinfo=UTC)
    user = User.objects.create_user("pia", date_joined=joined, last_login=joined)

    assert "2026-03-02 15:04" in operator.get("/admin/auth/user/").content.decode()
    form = operator.get(f"/admin/auth/user/{user.pk}/change/").content.decode()
    assert form.count("2026-03-02 15:04") == 2


def test_the_password_and_the_second_factor_are_under_the_name(desk: Client) -> None:
    html = desk.get("/admin/").content.decode()

    for address in ("/admin/password_change/", "/admin/second-factor/"):
        assert f'<a href="{address}"' in html
        assert desk.get(address).status_code == 200


def test_a_form_has_empty_rows_for_browsers_that_cannot_add_one(lead: Client) -> None:
    address = "/admin/tickets/calendar/add/"

    assert 'href="?rows=1"' in lead.get(address).content.decode()
    assert 'name="holidays-2-day"' not in lead.get(address).content.decode()
    assert 'name="holidays-2-day"' in lead.get(f"{address}?rows=1").content.decode()
