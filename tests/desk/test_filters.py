"""Filters of the list: several states and types, days left, amounts."""

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.cache import cache
from django.db import connection
from django.db.models import QuerySet
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from companies.models import Company
from desk.models import Preferences, SavedView
from tests import builders as build
from tests.desk.words import words
from tests.plans import offer_only
from tickets.models import Agent, Ticket
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
MEXICO = "America/Mexico_City"


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


def page(desk: Client, query: Any, address: str = LIST) -> Any:
    answer = desk.get(address, query)
    assert answer.status_code == 200
    return answer


def listed(desk: Client, **query: Any) -> list[int]:
    changelist = page(desk, {"queue": "everything", **query}).context["cl"]
    return sorted(ticket.pk for ticket in changelist.result_list)


def exported(lead: Client, **query: Any) -> list[int]:
    answer = lead.get(f"{LIST}export/", {"queue": "everything", **query})
    assert answer.status_code == 200
    lines = b"".join(answer.streaming_content).decode("utf-8-sig").splitlines()[1:]
    return sorted(int(line.split(",")[0]) for line in lines)


def problems(desk: Client, **query: Any) -> str:
    response = page(desk, {"queue": "everything", **query})
    assert list(response.context["cl"].result_list) == []
    return words(response.content.decode())


@pytest.fixture
def mixed(company: Company) -> dict[tuple[int, int], int]:
    states = (Status.PENDING, Status.INCOMPLETE, Status.DECLINED)
    tickets = {
        (type_id, state): build.ticket(company, type_id=type_id, status=state).pk
        for type_id in (3, 4, 5)
        for state in states
    }
    build.ticket(build.company("Globex"), type_id=8, status=Status.ACCEPTED)
    return tickets


@pytest.mark.parametrize("joined", [True, False])
def test_several_states_and_types(
    lead: Client, mixed: dict[tuple[int, int], int], joined: bool
) -> None:
    """Accept repeated parameters, as a form sends them, and commas, as in a view's address."""
    states, types = ["1", "3"], ["4", "5"]
    query: dict[str, Any] = {"status": states, "type": types}
    if joined:
        query = {name: ",".join(values) for name, values in query.items()}
    expected = sorted(
        pk for (kind, state), pk in mixed.items() if kind in (4, 5) and state in (1, 3)
    )
    assert len(expected) == 4

    assert listed(lead, **query) == expected
    assert exported(lead, **query) == expected
    assert listed(lead, **query, company="Globex") == []


def test_choices_are_ticked_and_kept_by_every_link(
    desk: Client, company: Company, mixed: dict[tuple[int, int], int]
) -> None:
    for _ in range(26):
        build.ticket(company, type_id=4)
    response = page(desk, {"queue": "open", "type": ["4", "5"], "status": ["1", "5"]})
    html, cl = response.content.decode(), response.context["cl"]

    ticked = re.findall(r'name="(type|status)" value="(\d+)"[^>]* checked[ >]', html)
    assert ticked == [("status", "1"), ("status", "5"), ("type", "4"), ("type", "5")]
    links = [QueryDict(unescape(one)) for one in re.findall(r'href="\?([^"]+)"', html)]
    choices = [(link.getlist("type"), link.getlist("status")) for link in links if "p" in link]
    assert choices[0] == (["4", "5"], ["1", "5"])
    place = cl.result_list[0].address
    ticket = desk.get(place).content.decode()
    assert "type%253D4%25252C5" in ticket or "type%3D4%252C5" in place


def test_a_saved_view_keeps_them_and_counts(
    desk: Client, mixed: dict[tuple[int, int], int]
) -> None:
    response = page(desk, {"queue": "open", "type": ["4", "5"]})
    query = response.context["cl"].as_list.removeprefix("list=")
    desk.post(f"{LIST}views/", {"name": "Both", "list": "queue=open&type=4&type=5"})

    view = SavedView.objects.get()
    assert "type=4%2C5" in view.query
    assert "type%3D4%252C5" in query
    again = page(desk, {"queue": "open", "type": "4,5"})
    items = [one for group in again.context["sidebar_navigation"] for one in group["items"]]
    (item,) = (one for one in items if one["title"] == "Both")
    assert item["badge"] == "4"
    assert item["active"]


@pytest.mark.parametrize(
    "query",
    [
        {"type": "999"},
        {"type": ["4", "999"]},
        {"status": "4,x"},
        {"due_in": "soon"},
        {"claim_in": "-1"},
        {"claim_in": "٣"},
        {"amount_from": "much"},
        {"amount_to": "-5"},
        {"currency": "XXY"},
    ],
)
def test_an_unknown_value_is_named_and_lists_nothing(
    lead: Client, company: Company, query: dict[str, Any]
) -> None:
    build.ticket(company, type_id=4, amount_claimed=5, currency="MXN")
    value = {"type": "999", "status": "x"}.get(next(iter(query)), next(iter(query.values())))

    assert value in problems(lead, **query)
    refused = lead.get(f"{LIST}export/", {"queue": "everything", **query})
    assert refused.status_code == 400
    assert value in refused.content.decode()


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch, agent: Agent) -> datetime:
    """Stop the clock at noon in Mexico, where the reader is; in UTC it is 18:00."""
    noon = datetime(2026, 11, 25, 12, tzinfo=ZoneInfo(MEXICO))
    monkeypatch.setattr(timezone, "now", lambda: noon)
    Preferences.objects.create(user=agent.user, time_zone=MEXICO)
    return noon


@pytest.mark.parametrize(("name", "column"), [("due_in", "due_at"), ("claim_in", "filing_due_at")])
def test_days_to_the_deadline_end_at_the_reader_s_midnight(
    desk: Client, company: Company, at_noon: datetime, name: str, column: str
) -> None:
    midnight = at_noon.replace(hour=0)
    instants = {
        "past": at_noon - timedelta(seconds=1),
        "now": at_noon,
        "today": midnight + timedelta(hours=23, minutes=59),
        "tomorrow": midnight + timedelta(days=1),
        "third": midnight + timedelta(days=4) - timedelta(seconds=1),
        "later": midnight + timedelta(days=4),
    }
    pks = {
        key: build.ticket(company, **{column: at}, created_at=at_noon).pk
        for key, at in instants.items()
    }
    build.ticket(company, **{column: at_noon}, status=Status.DECLINED)
    build.ticket(company)

    def matches(value: str) -> list[str]:
        names = {pk: key for key, pk in pks.items()}
        return [names[pk] for pk in listed(desk, **{name: value})]

    assert matches("passed") == ["past"]
    assert matches("0") == ["now", "today"]
    assert matches("1") == ["now", "today", "tomorrow"]
    assert matches("3") == ["now", "today", "tomorrow", "third"]
    assert matches("9999") == ["now", "today", "tomorrow", "third", "later"]


def test_amounts_of_one_currency(lead: Client, company: Company) -> None:
    low, edge, high = (
        build.ticket(company, amount_claimed=amount, currency="MXN").pk
        for amount in ("999.99", "1000.00", "2500.50")
    )
    build.ticket(company)

    assert listed(lead, amount_from="1000") == [edge, high]
    assert listed(lead, amount_from="1000", amount_to="1000") == [edge]
    assert listed(lead, amount_to="2500.49") == [low, edge]
    assert exported(lead, amount_from="1000.01", currency="mxn") == [high]
    assert listed(lead, amount_from="1", currency="EUR") == []


def test_amounts_of_two_currencies_are_not_compared(lead: Client, company: Company) -> None:
    peso = build.ticket(company, amount_claimed=1000, currency="MXN").pk
    assert listed(lead, amount_from="5") == [peso]
    yen = build.ticket(company, amount_claimed=1000, currency="JPY").pk
    # The cached list of currencies does not have the second one yet.
    assert listed(lead, amount_from="5") == [peso]
    cache.clear()

    assert "Choose the currency" in problems(lead, amount_from="5")
    assert lead.get(f"{LIST}export/", {"amount_from": "5"}).status_code == 400
    assert listed(lead, amount_from="5", currency="JPY") == [yen]
    assert listed(lead, currency="MXN") == [peso]


def test_filters_narrow_a_search_and_a_walk(desk: Client, company: Company) -> None:
    soon = timezone.now() + timedelta(hours=1)
    fields = {"comments": "Crushed", "filing_due_at": soon, "currency": "MXN"}
    tickets = [
        build.ticket(company, type_id=type_id, amount_claimed=amount, **fields).pk
        for type_id in (4, 5)
        for amount in (10, 500)
    ]
    query = {"q": "crushed", "type": "4,5", "amount_from": "100", "claim_in": "1"}

    rows = page(desk, query).context["cl"].result_list
    assert [one.pk for one in rows] == [tickets[3], tickets[1]]
    html = desk.get(rows[0].address).content.decode()
    walk = html.partition('id="walk-next"')[2].partition("</a>")[0]
    assert f"/{tickets[1]}/change/" in walk
    assert 'id="walk-previous"' not in html


def test_further_pages_keep_the_filters(desk: Client, company: Company) -> None:
    for number in range(60):
        build.ticket(company, type_id=3 + number % 3)
    query = {"queue": "open", "type": ["4", "5"], "p": "2"}

    second = page(desk, query).context["cl"]

    assert second.result_count == 40
    assert len(second.result_list) == 15
    assert {one.type_id for one in second.result_list} == {4, 5}


def plan(tickets: QuerySet[Ticket]) -> str:
    sql, params = tickets.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}", params)
        return "\n".join(line for (line,) in cursor.fetchall())


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({"due_in": "3"}, "ticket_open_due"),
        ({"claim_in": "passed"}, "ticket_open_filing"),
        ({"amount_from": "5", "currency": "MXN"}, "ticket_amount_claimed"),
        ({"type": "4,5"}, "ticket_type_newest"),
        ({"status": "1,5"}, "ticket_open_newest"),
    ],
)
def test_each_filter_uses_an_index(desk: Client, query: dict[str, str], index: str) -> None:
    narrowed = page(desk, {"queue": "everything", **query}).context["cl"].queryset
    offer_only(index)

    assert index in plan(narrowed.order_by())
