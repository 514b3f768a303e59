"""Presence: who else has a ticket open now."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from companies.models import Company
from desk.models import Visit
from tests import builders as build
from tickets.models import Agent, Ticket

LIST = "/admin/tickets/ticket/"


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


@pytest.fixture
def bens_desk(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("ben").user)
    return client


def alive(desk: Client, ticket: Ticket, writing: str = "0") -> list[str]:
    answer = desk.post(f"{LIST}{ticket.pk}/presence/", {"writing": writing})
    assert answer.status_code == 200
    return answer.json()["present"]


def test_tells_each_of_the_others(desk: Client, bens_desk: Client, ticket: Ticket) -> None:
    assert alive(desk, ticket, "1") == []
    assert alive(bens_desk, ticket) == ["ada is replying"]
    assert alive(desk, ticket) == ["ben is looking"]
    assert alive(bens_desk, ticket, "1") == ["ada is looking"]

    html = desk.get(f"{LIST}{ticket.pk}/change/").content.decode()
    assert "ben is replying" in html.split('id="presence"')[1].split("</form>")[0]


def test_forgets_visitors_without_a_sign_of_life(
    desk: Client, bens_desk: Client, ticket: Ticket
) -> None:
    alive(desk, ticket)
    for seconds, expected in ((40, ["ada is looking"]), (46, [])):
        Visit.objects.filter(user__username="ada").update(
            alive_at=timezone.now() - timedelta(seconds=seconds)
        )
        assert alive(bens_desk, ticket) == expected


def test_tells_of_this_ticket_only(
    desk: Client, bens_desk: Client, company: Company, ticket: Ticket
) -> None:
    alive(bens_desk, build.ticket(company))

    assert alive(desk, ticket) == []


def test_a_sign_of_life_goes_on_with_the_visit(desk: Client, ticket: Ticket) -> None:
    alive(desk, ticket)
    first = Visit.objects.get()
    alive(desk, ticket)

    again = Visit.objects.get()
    assert again.seen_at == first.seen_at
    assert again.alive_at > first.alive_at


def test_costs_one_write_and_one_read(
    desk: Client, ticket: Ticket, django_assert_num_queries: Callable[..., Any]
) -> None:
    alive(desk, ticket)

    # First session, user and two for permissions; with them, pending answers of others.
    with django_assert_num_queries(7):
        present = alive(desk, ticket)
    assert present == []
    assert Visit.objects.count() == 1


def test_knows_no_other_tickets(desk: Client, ticket: Ticket) -> None:
    assert desk.post(f"{LIST}{ticket.pk + 1}/presence/").status_code == 404
    assert not Visit.objects.exists()


def test_asks_for_the_csrf_token(agent: Agent, ticket: Ticket) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(agent.user)

    for address in (f"{ticket.pk}/presence/", f"{ticket.pk}/claim/", "take/"):
        assert strict.post(LIST + address).status_code == 403
    assert not Visit.objects.exists()
