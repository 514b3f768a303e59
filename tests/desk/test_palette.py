"""The palette that finds everything: the pages that it offers to each role, and its matches."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client

from companies.models import Company
from tests import builders as build
from tests.desk.words import words
from tickets import roles
from tickets.models import Agent

PALETTE = "/admin/palette/"


def offered(desk: Client, text: str) -> list[dict[str, Any]]:
    answer = desk.get(PALETTE, {"as": "json", "q": text})
    assert answer.status_code == 200
    return answer.json()["offers"]


def titles(desk: Client, text: str) -> list[str]:
    return [one["title"] for one in offered(desk, text)]


def test_offers_queues_reports_and_settings_by_the_beginning_of_their_names(
    operator: Client,
) -> None:
    for text, title in (
        ("overd", "Overdue"),
        ("COMPANY wait", "Waiting on company"),
        ("fair", "Fairness"),
        ("sla", "SLA targets"),
        ("óverv", "Overview"),
    ):
        assert titles(operator, text)[0] == title


def test_offers_all_pages_before_anything_is_typed(desk: Client) -> None:
    all_titles = titles(desk, "")

    assert {"Mine", "Overdue", "Macros"} <= set(all_titles)
    assert not any(title.startswith("Search all") for title in all_titles)


def test_offers_no_page_that_its_reader_may_not_see(desk: Client) -> None:
    assert "Users" not in titles(desk, "")
    assert "Fairness" not in titles(desk, "fair")
    assert "Appeals" not in titles(desk, "appeals")


def test_finds_a_ticket_by_its_tracking_number_before_anything_else(
    desk: Client, company: Company
) -> None:
    shipment = build.shipment(company, 4101)
    ticket = build.ticket(company, shipment_id=4101)

    first, *_, last = offered(desk, f" {shipment.tracking_number} ")

    assert str(ticket.pk) in first["title"] + first["link"]
    assert last["link"] == f"/admin/tickets/ticket/?q={shipment.tracking_number}"


def test_finds_no_tickets_without_permission(client: Client, company: Company) -> None:
    ticket = build.ticket(company)
    olga = User.objects.create_user("olga", is_staff=True)
    olga.groups.add(roles.group("operator"))
    client.force_login(olga)

    assert offered(client, str(ticket.pk)) == []


@pytest.mark.parametrize("text", ["%", "_", "'", "x" * 5000, "\u202e"])
def test_signs_and_nonsense_find_nothing_and_can_be_searched_for(
    desk: Client, company: Company, text: str
) -> None:
    build.ticket(company, comments="A parcel with 5 marks")

    (search,) = offered(desk, text)

    assert search["link"] == f"/admin/tickets/ticket/?{urlencode({'q': text[:200]})}"


def test_null_character_counts_as_no_query(desk: Client) -> None:
    assert offered(desk, "\x00") == offered(desk, "") != []


def test_is_a_page_of_links_without_scripts(desk: Client, agent: Agent) -> None:
    html = desk.get(PALETTE, {"q": "mine"}).content.decode()

    assert 'href="/admin/tickets/ticket/?queue=mine"' in html
    assert "Search all tickets for “mine”" in words(html)


def test_every_page_leads_to_it(desk: Client, company: Company) -> None:
    ticket = build.ticket(company)
    for page in ("", "tickets/ticket/", f"tickets/ticket/{ticket.pk}/change/", "desk/macro/"):
        html = desk.get(f"/admin/{page}").content.decode()
        assert 'id="open-palette" href="/admin/palette/"' in html
        assert 'role="combobox"' in html
