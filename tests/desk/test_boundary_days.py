"""Days begin at the reader's midnight wherever the desk lists or counts by days.

Two companies each have tickets opened and decided around both midnights of a day, and every list
has at least two pages.
"""

import csv
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from io import StringIO
from typing import Any
from urllib.parse import parse_qsl
from zoneinfo import ZoneInfo

import pytest
from django.core.cache import cache
from django.test import Client

from companies.models import Company
from desk.queue import export
from desk.queue.list_admin import ListPages
from tests import builders as build
from tickets.models import Agent, Ticket
from tickets.statuses import Status

DAY, SECOND = date(2026, 3, 8), timedelta(seconds=1)
ZONES = ("Asia/Tokyo", "America/Mexico_City", "UTC")
AT_ONCE = 3
LIST, REPORT = "/admin/tickets/ticket/", "/admin/reports/"


@pytest.fixture(params=ZONES)
def zone(request: pytest.FixtureRequest) -> ZoneInfo:
    return ZoneInfo(request.param)


@pytest.fixture
def lead(db: None, zone: ZoneInfo) -> Client:
    """Return the browser of a lead who reads in that time zone."""
    eve = build.agent("eve", group="lead", available=False)
    Agent.objects.filter(pk=eve.pk).update(time_zone=zone.key)
    client = Client()
    client.force_login(eve.user)
    return client


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(export, "AT_ONCE", AT_ONCE)
    monkeypatch.setattr(ListPages, "list_per_page", AT_ONCE)


def edges(zone: ZoneInfo) -> tuple[list[datetime], list[datetime]]:
    """Return the first and last seconds of the day, and the seconds next to them."""
    begins, ends = (datetime.combine(DAY + timedelta(days=days), time.min, zone) for days in (0, 1))
    return [begins, ends - SECOND], [begins - SECOND, ends]


def fill(company: Company, zone: ZoneInfo, make: Callable[[Company, datetime], Ticket]) -> set[int]:
    """Create two tickets at each edge; return those that belong to the day."""
    inside, outside = edges(zone)
    for at in [*outside, *outside]:
        make(company, at)
    return {make(company, at).pk for at in [*inside, *inside]}


def opened(company: Company, at: datetime) -> Ticket:
    return build.ticket(company, created_at=at, carrier_name="dhl")


def decided(company: Company, at: datetime) -> Ticket:
    long_ago = at - timedelta(days=40)
    return build.ticket(
        company,
        status=Status.ACCEPTED,
        created_at=long_ago,
        decided_at=at,
        amount_paid=10,
        currency="MXN",
        carrier_name="dhl",
    )


def listed(client: Client, address: str, query: dict[str, Any]) -> tuple[int, set[int]]:
    """Return the count that a list shows, and the ids on its pages."""
    size, ids, page = 0, set(), 0
    while True:
        answer = client.get(address, {**query, "p": page + 1})
        assert answer.status_code == 200
        changes = answer.context["cl"]
        size, page = changes.result_count, page + 1
        ids |= {ticket.pk for ticket in changes.result_list}
        if page * AT_ONCE >= size:
            return size, ids


def rows(client: Client, address: str, query: dict[str, Any]) -> list[dict[str, str]]:
    text = client.get(address, query).getvalue().decode().removeprefix("\ufeff")
    return list(csv.DictReader(StringIO(text, newline="")))


def test_list_and_its_export_have_what_was_opened_on_the_reader_s_day(
    lead: Client, company: Company, birch: Company, zone: ZoneInfo
) -> None:
    mine = fill(company, zone, opened)
    fill(birch, zone, opened)
    query = {
        "queue": "everything",
        "company": company.pk,
        "opened_from": DAY.isoformat(),
        "opened_to": DAY.isoformat(),
    }

    assert listed(lead, LIST, query) == (len(mine), mine)
    exported = [int(row["ticket"]) for row in rows(lead, f"{LIST}export/", query)]
    assert exported == sorted(mine, reverse=True)


def test_report_counts_what_was_opened_and_decided_on_the_reader_s_day(
    lead: Client, company: Company, birch: Company, zone: ZoneInfo
) -> None:
    expected = {}
    for name, make in (("Opened", opened), ("Decided", decided)):
        expected[name] = fill(company, zone, make)
        fill(birch, zone, make)
    query = {"from": DAY.isoformat(), "to": DAY.isoformat(), "company": company.name}

    answer = lead.get(REPORT, query)

    tables = {table.slug: table.rows for table in answer.context_data["tables"]}
    overview = {str(row[0].text): row for row in tables["overview"]}
    for name, tickets in expected.items():
        now, before = overview[name][1:3]
        assert (now.value, before.value) == (len(tickets), 2), name
        address, _, link_query = now.link.partition("?")
        assert listed(lead, address, dict(parse_qsl(link_query))) == (len(tickets), tickets), name
    assert [cell.value for cell in tables["money"][0]][:3] == ["MXN", "all", 4]
    (carrier,) = rows(lead, f"{REPORT}carriers.csv", query)
    assert [carrier[name] for name in expected] == ["4", "4"]
