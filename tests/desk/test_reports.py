"""Reports for a lead's meeting: each figure equals the number of tickets in its linked list."""

import csv
from codecs import BOM_UTF8
from datetime import date, datetime, timedelta
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from desk import jobs
from desk.reports import cells, counting, measures, report_pages
from desk.reports.cells import Cell
from desk.reports.report_tables import COLUMNS
from desk.reports.tables import Table
from tests import builders as build
from tickets.models import Agent, Appeal, HistoryEntry, Rating, Ticket
from tickets.statuses import Status

REPORT = "/admin/reports/"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


@pytest.fixture
def noon() -> datetime:
    return timezone.localtime().replace(hour=12, minute=0, second=0, microsecond=0) - DAY


def decided(company: Company, at: datetime, to: Status = Status.ACCEPTED, **more: Any) -> Ticket:
    """Create a ticket that its agent decided, unless `more` names another user."""
    opened = {"created_at": at - 4 * HOUR, "decided_at": at, "carrier_name": "dhl"}
    own = {"decided_by": more["agent"].user} if "agent" in more else {}
    return build.ticket(company, **{**opened, "status": to, **own, **more})


@pytest.fixture
def past(company: Company, birch: Company, agent: Agent, noon: datetime) -> None:
    """Create a month with some of everything, and one ticket in the previous month."""
    ben = build.agent("ben")
    due = {"first_response_due_at": noon - HOUR, "resolution_due_at": noon + HOUR}
    quick = decided(company, noon, agent=agent, first_responded_at=noon - 3 * HOUR, **due)
    slow = decided(company, noon, Status.DECLINED, agent=ben, first_responded_at=noon, **due)
    late = {**due, "resolution_due_at": noon - HOUR}
    silent = decided(birch, noon, Status.DECLINED, agent=ben, type_id=4, carrier_name="DHL", **late)
    decided(company, noon - 40 * DAY, agent=agent, **due)
    build.ticket(company, created_at=noon, carrier_name="fedex", first_response_due_at=noon)
    build.ticket(company, created_at=noon - 31 * DAY, carrier_name="fedex")
    for ticket, rating in ((quick, 5), (slow, 2)):
        Rating.objects.create(ticket=ticket, rating=rating, created_at=noon)
    appeal = {"declined_at": noon, "comment": "No.", "created_at": noon + HOUR}
    Appeal.objects.create(ticket=slow, **appeal)
    for number in range(2):
        HistoryEntry.objects.create(
            ticket=silent,
            by="lead",
            was=Status.DECLINED,
            now=Status.IN_REVIEW,
            created_at=noon + number * HOUR,
        )


def tables(client: Client, address: str = REPORT) -> dict[str, Table]:
    answer = client.get(address)
    assert answer.status_code == 200
    return {table.slug: table for table in answer.context_data["tables"]}


def linked(report: dict[str, Table]) -> list[Cell]:
    cells = [cell for table in report.values() for row in table.rows for cell in row]
    return [cell for cell in cells if cell.link]


@pytest.mark.usefixtures("past")
def test_every_figure_leads_to_a_list_of_exactly_its_tickets(lead: Client, birch: Company) -> None:
    queries = ("", f"?company={birch.pk}", "?carrier=dhl&type=3")
    cells = [cell for query in queries for cell in linked(tables(lead, REPORT + query))]

    assert len(cells) > 40
    user = User.objects.get(username="eve")
    for cell in {cell.link: cell for cell in cells}.values():
        assert listed(cell.link, user) == cell.value, cell
    page = lead.get(cells[0].link)
    assert page.context_data["cl"].result_count == cells[0].value
    assert "report" in page.content.decode().casefold()


def listed(address: str, user: User) -> int:
    """Return the number of tickets in the list at this address, without rendering it."""
    request = RequestFactory().get(address)
    request.user = user
    return admin.site.get_model_admin(Ticket).get_changelist_instance(request).queryset.count()


@pytest.mark.usefixtures("past")
def test_counts_decisions_promises_ratings_appeals_and_what_was_reopened(lead: Client) -> None:
    rows = {row[0].text: [cell.value for cell in row[1:]] for row in tables(lead)["overview"].rows}

    assert rows == {
        "Opened": [4, 2, 100.0],
        "First response in time": [1, 1, 0.0],
        "First response late": [3, 0, ""],
        "Decided": [3, 1, 200.0],
        "Accepted": [1, 1, 0.0],
        "Declined": [2, 0, ""],
        "Resolved in time": [2, 1, 100.0],
        "Resolved late": [1, 0, ""],
        "Rated": [2, 0, ""],
        "Satisfied (4 or 5 of 5)": [1, 0, ""],
        "Appealed": [1, 0, ""],
        "Reopened": [1, 0, ""],
        "With an amount paid": [0, 0, ""],
    }


@pytest.mark.usefixtures("past")
def test_spellings_of_a_carrier_are_one_row(lead: Client) -> None:
    rows = tables(lead)["carriers"].rows

    assert [(row[0].text, row[8].value) for row in rows] == [("dhl", 3), ("fedex", 0)]


@pytest.mark.usefixtures("past")
def test_a_file_has_the_table_of_the_page_with_plain_numbers(lead: Client) -> None:
    answer = lead.get(f"{REPORT}agents.csv?type=3")

    content = answer.getvalue()
    assert content.startswith(BOM_UTF8)
    read = list(csv.reader(StringIO(content.removeprefix(BOM_UTF8).decode())))
    assert [read[0][0], read[0][8]] == ["Agent", "Decided"]
    assert {row[0]: row[8] for row in read[1:]} == {"ada": "1", "ben": "1", "nobody": "0"}
    assert lead.get(f"{REPORT}nothing.csv").status_code == 404


def test_report_keeps_its_filters_in_the_form(lead: Client) -> None:
    page = lead.get(f"{REPORT}?type=4&carrier=redpack").content.decode()

    assert '<option value="4" selected>' in page
    assert 'name="carrier" list="carrier-names" value="redpack"' in page


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("?from=2026-03-02&to=2026-03-01", "From must not be after To."),
        ("?from=2024-01-01&to=2026-03-01", "366 days at most"),
        ("?from=2026-02-30", "From: enter a day."),
        ("?to=soon", "To: enter a day."),
        ("?company=Nobody", "Company: there is none of this name."),
    ],
)
def test_invalid_report_is_refused_and_keeps_the_form(lead: Client, query: str, says: str) -> None:
    answer = lead.get(REPORT + query)

    assert answer.status_code == 400
    assert says in answer.content.decode()
    for name, value in parse_qs(urlsplit(query).query).items():
        assert f'name="{name}"' in answer.content.decode()
        assert f'value="{value[0]}"' in answer.content.decode()


@pytest.mark.parametrize(
    "figure",
    [
        "x",
        "decided",
        "decided:2026-01-02:2026-01-01",
        "decided:1:2",
        "decided:2026-02-30:2026-03-01",
    ],
)
def test_a_list_of_no_figure_is_empty(lead: Client, company: Company, figure: str) -> None:
    build.ticket(company)

    answer = lead.get(f"/admin/tickets/ticket/?queue=everything&figure={figure}")

    assert answer.context_data["cl"].result_count == 0


@pytest.mark.usefixtures("past")
def test_of_a_carrier_that_no_ticket_has_there_is_nothing(lead: Client) -> None:
    report = tables(lead, f"{REPORT}?carrier=quagga")

    assert {row[1].value for row in report["overview"].rows} == {0}
    assert not any(report[slug].rows for slug in ("money", "reasons", "carriers"))


def test_agents_may_not_see_reports(agent: Agent) -> None:
    client = Client()
    client.force_login(agent.user)

    assert client.get(REPORT).status_code == 403
    assert client.get(f"{REPORT}overview.csv").status_code == 403


@pytest.mark.usefixtures("past")
def test_more_tickets_cost_no_more_queries(lead: Client, company: Company, noon: datetime) -> None:
    def queries() -> int:
        cache.clear()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            tables(lead)
        return len(queries)

    queries()
    few = queries()
    for number in range(5):
        decided(company, noon, carrier_name=f"carrier {number}", agent=build.agent(f"a{number}"))

    assert queries() == few


@pytest.mark.usefixtures("past")
def test_every_table_adds_up_to_the_total_and_counts_decisions_for_who_decided(
    lead: Client, company: Company, agent: Agent, noon: datetime
) -> None:
    eve, olga = User.objects.get(username="eve"), User.objects.create_user("olga")
    twin = build.agent("ada.2")
    for user in (agent.user, twin.user):
        user.first_name = "Ada"
        user.save()
    # All assigned to ada; decided by a lead, a user who is no agent, a namesake and nobody.
    for user in (eve, eve, olga, twin.user, None):
        decided(company, noon, Status.DECLINED, agent=agent, decided_by=user)
    build.ticket(company, created_at=noon)
    agent.user.username = "ada.1"
    agent.user.save()

    report = tables(lead)

    column = {measures.MEASURES[slug].title: place for place, slug in enumerate(COLUMNS, start=5)}
    names = [str(title) for title in column]
    totals = {row[0].text: row[1].value for row in report["overview"].rows}
    for slug in ("types", "carriers", "agents"):
        sums = [sum(row[5 + n].value for row in report[slug].rows) for n in range(len(names))]
        assert dict(zip(names, sums, strict=True)) == {name: totals[name] for name in names}, slug
    opened_and_decided = {
        row[0].text: (row[5].value, row[8].value) for row in report["agents"].rows
    }
    assert opened_and_decided == {
        "eve": (0, 2),
        "ada.1": (6, 1),
        "ada.2": (0, 1),
        "ben": (2, 2),
        "olga": (0, 1),
        "nobody": (2, 1),
    }
    assert report["agents"].rows[-1][0].text == "nobody"
    for cell in linked(report):
        assert listed(cell.link, eve) == cell.value, cell


def test_a_list_is_narrowed_by_who_decided(lead: Client, company: Company, agent: Agent) -> None:
    eve, now = User.objects.get(username="eve"), timezone.now()
    by_eve = decided(company, now, agent=agent, decided_by=eve)
    by_nobody = decided(company, now, agent=agent, decided_by=None)
    decided(company, now, agent=agent)
    build.ticket(company, agent=agent)
    for name, only in (("eve", [by_eve]), ("—", [by_nobody]), ("none", [])):
        query = {"queue": "everything", "decided_by": name}
        listed_tickets = lead.get("/admin/tickets/ticket/", query).context_data["cl"].queryset
        assert list(listed_tickets) == only


def test_change_from_zero_has_no_percentage() -> None:
    assert cells.change_cell(5, 0).text == ""
    assert cells.change_cell(15, 10).text == "+50 %"
    assert cells.change_cell(5, 10).text == "-50 %"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.usefixtures("past")
def test_the_usual_reports_are_counted_before_somebody_asks(
    lead: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings, zone: str
) -> None:
    settings.DESK_TIME_ZONE = zone
    tables(lead, f"{REPORT}?type=3")
    jobs.count_figures()
    monkeypatch.setattr(counting, "count", None)

    assert tables(lead)["overview"].rows[0][1].value == 4


def test_a_share_is_rounded_and_not_cut_off() -> None:
    assert cells.share_cell(2, 3) == ("66.7 %", 66.7, "")


def test_money_and_reasons_are_those_of_the_decisions_of_the_period(
    lead: Client, company: Company, noon: datetime
) -> None:
    claim = {"amount_claimed": 100, "currency": "MXN"}
    decided(company, noon, amount_paid=40, amount_offered=50, **claim)
    decided(company, noon, Status.DECLINED, reason_code="late_claim", **claim)
    decided(company, noon, Status.DECLINED, reason_code="late_claim", carrier_name="ups")
    decided(company, noon - 31 * DAY, amount_paid=20, **claim)

    report = tables(lead)

    first, *carriers = [[cell.value for cell in row] for row in report["money"].rows]
    assert first == ["MXN", "all", 2, 200.0, 50.0, 40.0, 20.0, 20.0, 100.0]
    assert [row[1] for row in carriers] == ["dhl"]
    [reason] = report["reasons"].rows
    assert [cell.value for cell in reason[1:]] == [2, 0, 100.0]
    user = User.objects.get(username="eve")
    assert listed(reason[1].link, user) == 2
    assert report["overview"].rows[-1][1].value == 1


def test_shows_the_first_rows_and_its_file_has_all(
    lead: Client, company: Company, noon: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_pages, "MOST_ROWS", 2)
    for number in range(4):
        decided(company, noon, carrier_name=f"carrier {number}")

    html = lead.get(REPORT).content.decode()
    answer = lead.get(f"{REPORT}carriers.csv")

    assert "carrier 1" in html
    assert html.count("2 more rows are in the CSV file.") == 1
    assert len(tables(lead)["carriers"].rows) == 2
    assert b"".join(answer).count(b"carrier ") == 4


def test_ticket_counts_as_opened_and_as_decided_each_in_its_own_period(
    lead: Client, company: Company, noon: datetime
) -> None:
    claim = {"amount_claimed": 100, "currency": "MXN", "amount_paid": 40}
    decided(company, noon, created_at=noon - 40 * DAY, **claim)

    report = tables(lead)

    assert [cell.value for cell in report["money"].rows[0]][:3] == ["MXN", "all", 1]
    values = {str(row[0].text): row[1].value for row in report["overview"].rows}
    assert (values["Opened"], values["Decided"], values["With an amount paid"]) == (0, 1, 1)


def test_period_before_ends_on_the_day_before() -> None:
    week = measures.Period(date(2026, 3, 8), date(2026, 3, 14))
    assert week.before == measures.Period(date(2026, 3, 1), date(2026, 3, 7))
    assert week.before.days == week.days == 7
    day = measures.Period(date(2026, 3, 1), date(2026, 3, 1))
    assert day.before == measures.Period(date(2026, 2, 28), date(2026, 2, 28))


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Mexico_City"])
def test_period_has_its_first_and_last_day_where_the_reader_is(company: Company, zone: str) -> None:
    with timezone.override(ZoneInfo(zone)):
        period = measures.Period(date(2026, 3, 8), date(2026, 3, 14))
        begins, ends = measures.midnight(period.first), measures.midnight(date(2026, 3, 15))
        second = timedelta(seconds=1)
        tickets = [
            build.ticket(company, created_at=at)
            for at in (begins - second, begins, ends - second, ends)
        ]

        assert (
            list(Ticket.objects.filter(period.within("created_at")).order_by("pk")) == tickets[1:3]
        )
        before = Ticket.objects.filter(period.before.within("created_at"))
        assert list(before) == tickets[:1]
