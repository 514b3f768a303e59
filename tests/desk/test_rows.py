"""Rows of the list, and the filters next to it."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from companies.models import Company
from tests import builders as build
from tests.desk.test_queues import LIST, listed
from tickets.models import Agent, Comment, Ticket

NAMES = f"{LIST}names/"


def page(desk: Client, **query: Any) -> str:
    return desk.get(LIST, {"queue": "open", **query}).content.decode()


def from_now(**delta: float) -> Any:
    return timezone.now() + timedelta(**delta, seconds=30)


def test_says_whose_parcel_it_is_and_what_was_said_last(desk: Client, company: Company) -> None:
    shipment = build.shipment(company, tracking_number="TRACK-1", carrier_name="swift")
    ticket = build.ticket(company, type_id=4, shipment_id=shipment.pk, status=6)
    for text in ("the first", "<b>the last"):
        Comment.objects.create(
            ticket=ticket, by="company", text=text, status=6, created_at=timezone.now()
        )

    html = page(desk)

    for text in ("Acme", "TRACK-1", "swift", "In review", "&lt;b&gt;the last", "nobody"):
        assert text in html
    assert "the first" not in html


def test_has_what_the_script_of_the_actions_looks_for(desk: Client, company: Company) -> None:
    ticket = build.ticket(company)
    html = page(desk)

    assert 'class="result-list ' in html
    assert f'name="_selected_action" value="{ticket.pk}" class="action-select' in html
    assert "action-toggle" in html
    assert "Show all" not in html


def test_says_that_there_is_nothing(desk: Client) -> None:
    assert "This queue is empty." in page(desk)
    assert "No ticket for “x”." in page(desk, q="x")
    assert "No tickets match these filters." in page(desk, status="6")


def test_does_not_show_another_company_s_parcel(
    desk: Client, company: Company, birch: Company
) -> None:
    build.shipment(birch, 4101, tracking_number="SECRET")
    build.ticket(company, shipment_id=4101)

    assert "SECRET" not in page(desk)
    assert "shipment 4101" in page(desk)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"due_at": {"hours": -3}}, "overdue by 2 h"),
        ({"due_at": {"hours": 2}}, "in 2 h"),
        ({"due_at": {"days": 3}}, "in 3 d"),
        ({"due_at": {"minutes": 30}}, "in 30 min"),
        ({"filing_due_at": {"days": 2}}, "desk-near"),
        ({"filing_due_at": {"days": -2}}, "expired 1 d ago"),
    ],
)
def test_says_how_long_is_left(
    desk: Client, company: Company, changes: dict[str, dict[str, float]], text: str
) -> None:
    build.ticket(company, **{key: from_now(**delta) for key, delta in changes.items()})

    assert text in page(desk)


def test_says_that_the_clock_stands_while_the_company_owes_something(
    desk: Client, company: Company
) -> None:
    build.ticket(company, status=4)

    assert "paused" in page(desk)


def test_filters_what_a_queue_holds(
    desk: Client, company: Company, birch: Company, agent: Agent
) -> None:
    old = timezone.now() - timedelta(days=400)
    one = build.ticket(company, agent=agent, status=6, carrier_name="swift", created_at=old).pk
    two = build.ticket(birch, type_id=4, status=2).pk
    day = f"{old:%Y-%m-%d}"

    for query, expected in (
        ({"status": "6"}, [one]),
        ({"status": "77"}, []),
        ({"type": "4"}, [two]),
        ({"agent": "ada"}, [one]),
        ({"agent": "nobody-such"}, []),
        ({"company": "birch"}, [two]),
        ({"company": str(company.pk)}, [one]),
        ({"company": "9" * 40}, []),
        ({"carrier_name": "swift"}, [one]),
        ({"opened_from": day, "opened_to": day}, [one]),
        ({"opened_from": "9999-12-31"}, []),
        ({"opened_to": "9999-12-31"}, [two, one]),
        ({"opened_from": "yesterday"}, [two, one]),
        ({"status": ""}, [two, one]),
        ({"q": "swift", "status": "6"}, [one]),
    ):
        assert listed(desk, queue="everything", **query) == expected, query


def test_lists_no_agent_but_the_one_that_is_asked_for(desk: Client, company: Company) -> None:
    """Trap: 200 agents as 200 links."""
    build.agent("quentin")
    build.ticket(company)

    assert "quentin" not in page(desk)
    assert 'value="quentin"' in page(desk, agent="quentin")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"what": "agent", "begin": "a"}, ["ada"]),
        ({"what": "company", "begin": "bi"}, ["Birch"]),
        ({"what": "company", "begin": "ÍRCH"}, ["Birch"]),
        ({"what": "company", "begin": ""}, ["Acme", "Birch"]),
        ({"what": "company", "begin": "%"}, []),
        ({"what": "carrier", "begin": ""}, ["swift", "tardy"]),
        ({"what": "carrier", "begin": "t\x00"}, ["tardy"]),
    ],
)
def test_offers_names_that_begin_so(
    desk: Client, company: Company, birch: Company, query: dict[str, str], names: list[str]
) -> None:
    for carrier in ("tardy", "swift", "swift", ""):
        build.ticket(company, carrier_name=carrier)

    assert desk.get(NAMES, query).json() == {"names": names}


def test_offers_names_to_nobody_else(client: Client, desk: Client) -> None:
    assert desk.get(NAMES, {"what": "user"}).status_code == 404
    client.force_login(User.objects.create_user("clerk", is_staff=True))
    assert client.get(NAMES, {"what": "agent"}).status_code == 403
    assert Ticket.objects.count() == 0
