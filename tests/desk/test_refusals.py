"""Pages of refusals and around signing in and out: plain words and a way on."""

import pytest
from django.contrib.staticfiles import finders
from django.test import Client, RequestFactory

from companies.models import Company
from config import errors
from tests import builders as build
from tickets.models import Agent

LIST = "/admin/tickets/ticket/"


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/admin/auth/user/", 403, "ada does not have permission for this page."),
        ("/admin/nothing/", 404, "Page not found"),
        (f"{LIST}take/", 405, "You were probably signed out when you sent it"),
    ],
)
def test_a_refusal_is_a_page_that_leads_back(
    desk: Client, address: str, status: int, words: str
) -> None:
    answer = desk.get(address)

    assert answer.status_code == status
    html = answer.content.decode()
    assert words in html
    assert '<a href="/admin/">Go to the desk</a>' in html


def test_get_on_the_address_for_replies_leads_to_the_ticket(desk: Client, company: Company) -> None:
    ticket = build.ticket(company)

    answer = desk.get(f"{LIST}{ticket.pk}/write/")

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert f'<a href="{LIST}{ticket.pk}/change/">Ticket {ticket.pk}</a>' in answer.content.decode()


def test_a_form_from_before_the_sign_in_is_refused_in_words(agent: Agent) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(agent.user)

    answer = strict.post(f"{LIST}take/")

    assert answer.status_code == 403
    assert "Your change was not saved" in answer.content.decode()


def test_a_crash_at_the_desk_tells_nothing_but_what_to_do() -> None:
    answer = errors.server_error(RequestFactory().get("/admin/"))

    assert answer.status_code == 500
    assert "Try again in a moment." in answer.content.decode()


def test_refusals_need_nothing_that_the_policy_forbids(desk: Client) -> None:
    html = desk.get("/admin/nothing/").content.decode()

    assert "<script" not in html
    assert "<style" not in html
    assert "style=" not in html
    assert finders.find("desk/refusal.css")


def test_says_that_one_is_signed_out(desk: Client) -> None:
    html = desk.post("/admin/logout/").content.decode()

    assert "You have signed out" in html
    assert 'href="/admin/"' in html


def test_machines_still_get_json(client: Client, db: None) -> None:
    assert client.get("/nothing").json()["statusCode"] == 404
