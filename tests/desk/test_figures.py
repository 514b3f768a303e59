"""Figures for leads over a period, which match the tickets exactly."""

import csv
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from core.models import FailedRow
from desk import jobs
from desk.common import csv_files
from desk.common.cache import cached
from desk.reports import counting, fairness, figure_cache, figure_tables
from desk.reports.cells import duration
from desk.reports.charts import columns, round_up
from desk.reports.counting import Scope, Times
from desk.reports.figures import SPANS, count_figures_of, days_up_to_today, in_deployment_zone
from desk.reports.measures import Period
from tests import builders as build
from tickets import roles
from tickets.models import Agent, Ticket

NOW = datetime(2026, 3, 18, 15, tzinfo=UTC)
WEEK = Scope(Period(date(2026, 3, 12), date(2026, 3, 18)))
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DESK = "/admin/"


@pytest.fixture
def lead(db: None) -> Client:
    client = Client()
    client.force_login(build.agent("eve", group="lead", available=False).user)
    return client


def decided(company: Company, *, at: datetime, after: timedelta, **changes: Any) -> Ticket:
    """Create a ticket that its agent decided, unless `changes` names another user."""
    opened = {"created_at": at - after, "decided_at": at}
    if "agent" in changes:
        opened["decided_by"] = changes["agent"].user
    return build.ticket(company, **{"status": 2, "carrier_name": "dhl", **opened, **changes})


def table(slug: str, selection: Scope = WEEK) -> list[tuple[Any, ...]]:
    """Return the rows of a table, which the page and the file share."""
    with in_deployment_zone():
        tables = {one.slug: one for one in figure_tables.tables(count_figures_of(selection))}
    return [tuple(cell.value for cell in row) for row in tables[slug].rows]


def lately(days: int = 7, **narrowed: Any) -> Scope:
    return Scope(days_up_to_today(days), **narrowed)


def test_counts_a_day_s_tickets_by_the_day_they_were_opened_and_decided(company: Company) -> None:
    build.ticket(company, created_at=NOW)
    build.ticket(company, created_at=NOW - 6 * DAY)
    build.ticket(company, created_at=NOW - 7 * DAY)
    decided(company, at=NOW - DAY, after=30 * DAY)

    rows = table("volume")

    assert len(rows) == 7
    assert rows[0] == ("2026-03-12", 1, 0)
    assert rows[-2:] == [("2026-03-17", 0, 1), ("2026-03-18", 1, 0)]
    assert len(table("volume", lately(28))) == 28


@pytest.mark.parametrize(
    ("zone", "days"),
    [
        ("Asia/Tokyo", [("2026-03-18", 2, 2), ("2026-03-19", 0, 0)]),
        ("America/Mexico_City", [("2026-03-17", 2, 2), ("2026-03-18", 0, 0)]),
        ("UTC", [("2026-03-17", 1, 1), ("2026-03-18", 1, 1)]),
    ],
)
def test_days_are_those_of_the_deployment_s_zone(
    company: Company, settings: Settings, zone: str, days: list[tuple[str, int, int]]
) -> None:
    settings.DESK_TIME_ZONE = zone
    for at in (NOW - 19 * HOUR, NOW - 12 * HOUR):
        build.ticket(company, created_at=at)
        decided(company, at=at, after=30 * DAY)

    first, last = (date.fromisoformat(day) for day, *_ in days)
    assert table("volume", Scope(Period(first, last))) == days


def test_puts_what_is_open_into_ages(company: Company, agent: Agent) -> None:
    now = timezone.now()
    for days in (0, 0.5, 2, 5, 10, 20, 400):
        build.ticket(company, created_at=now - days * DAY, agent=agent)
    build.ticket(company, created_at=now - 2 * DAY, status=3)

    assert table("backlog") == [
        ("0 to 1 days", 2),
        ("1 to 3 days", 1),
        ("3 to 7 days", 1),
        ("7 to 14 days", 1),
        ("14 to 28 days", 1),
        ("over 28 days", 1),
    ]


def test_counts_unassigned_and_late_open_tickets(company: Company, agent: Agent) -> None:
    now = timezone.now()
    for changes in (
        {"agent": agent},
        {"due_at": now - HOUR},
        {"due_at": now + HOUR, "filing_due_at": now + DAY},
        {"status": 3},
    ):
        build.ticket(company, type_id=4, created_at=now - DAY, **changes)

    figures = count_figures_of(lately())

    slugs = ("open", "overdue", "filing_near")
    assert dict(figure_tables.tiles(figures))["Unassigned"] == "2"
    assert [figures.groups["type_id"][4][slug] for slug in slugs] == [3, 1, 1]
    assert [figures.groups["user_id"][agent.user.pk][slug] for slug in slugs] == [1, 0, 0]
    assert [figures.groups["user_id"][None][slug] for slug in slugs] == [2, 1, 1]


def test_cached_figures_are_not_shared_between_selections() -> None:
    number: list[dict[str, Any]] = [{name: 4} for name in ("type_id", "agent_id", "company_id")]
    filters = [lately(**narrowed) for narrowed in ({}, {"carrier": "dhl"}, *number)]

    keys = {
        kind.key(one)
        for kind in (figure_cache.FIGURES, figure_cache.REPORTS)
        for one in (*filters, lately(28))
    }
    assert len(keys) == 2 * (len(filters) + 1)
    with timezone.override("Asia/Tokyo"):
        assert figure_cache.REPORTS.key(filters[0]) not in keys


def test_reports_median_and_90th_percentile(company: Company) -> None:
    for hours in range(1, 11):
        decided(company, at=NOW - HOUR, after=hours * HOUR, type_id=4)
    answered = {"created_at": NOW - 3 * HOUR, "first_responded_at": NOW - HOUR}
    build.ticket(company, type_id=2, **answered)

    assert count_figures_of(WEEK).decisions[4] == Times(10, 5 * HOUR, 9 * HOUR)
    all_types, *rows = table("times")
    assert all_types == ("All", 1, "2 h 0 min", "2 h 0 min", 10, "5 h 0 min", "9 h 0 min")
    assert [row[1:] for row in rows] == [
        (1, "2 h 0 min", "2 h 0 min", 0, "", ""),
        (0, "", "", 10, "5 h 0 min", "9 h 0 min"),
    ]


def test_groups_by_type_agent_and_carrier(company: Company, agent: Agent) -> None:
    bob, now = build.agent("bob"), timezone.now()
    late = {"resolution_due_at": now - 2 * DAY, "agent": bob}
    decided(company, at=now - DAY, after=DAY, type_id=4, carrier_name="ups", **late)
    decided(company, at=now - DAY, after=DAY, type_id=4, status=3, agent=bob)
    decided(company, at=now - DAY, after=DAY, type_id=2, agent=agent)
    build.ticket(
        company,
        type_id=2,
        agent=agent,
        carrier_name="dhl",
        created_at=now - 9 * DAY,
        due_at=now - HOUR,
        filing_due_at=now + 2 * DAY,
    )
    build.ticket(company, type_id=2, created_at=now)

    assert [row[1:] for row in table("types", lately())] == [
        (2, 1, 1, 0, 2, 1, 1),
        (2, 2, 1, 1, 0, 0, 0),
    ]
    assert table("agents", lately()) == [
        ("nobody", 1, 0, 0, 0, 1, 0, 0),
        ("ada", 1, 1, 1, 0, 1, 1, 1),
        ("bob", 2, 2, 1, 1, 0, 0, 0),
    ]
    assert table("carriers", lately()) == [
        ("dhl", 2, 2, 1, 50.0, 1, 1),
        ("unknown", 1, 0, 0, "", 1, 0),
        ("ups", 1, 1, 1, 100.0, 0, 0),
    ]


def test_counts_decisions_by_decider_and_the_rest_by_assignee(
    lead: Client, company: Company, agent: Agent
) -> None:
    eve = User.objects.get(username="eve")
    decided(company, at=NOW - DAY, after=DAY, agent=agent, decided_by=eve)
    decided(company, at=NOW - DAY, after=DAY, agent=agent, decided_by=None)
    build.ticket(company, agent=agent, created_at=NOW)

    assert table("agents") == [
        ("nobody", 0, 1, 1, 0, 0, 0, 0),
        ("ada", 3, 0, 0, 0, 1, 0, 0),
        ("eve", 0, 1, 1, 0, 0, 0, 0),
    ]
    of_eve = WEEK._replace(agent_id=Agent.objects.get(user=eve).pk)
    assert [row[2] for row in table("volume", of_eve)] == [0, 0, 0, 0, 0, 1, 0]
    assert table("times", of_eve)[0][4] == 1
    assert fairness.report(WEEK).shares[0].decided == 0


def test_counts_spellings_in_another_case_as_one_carrier(company: Company) -> None:
    build.ticket(company, created_at=NOW, carrier_name="FEDEX")
    build.ticket(company, created_at=NOW, carrier_name="FedEx")
    decided(company, at=NOW - HOUR, after=HOUR, carrier_name="FedEx")

    assert table("carriers") == [("FedEx", 3, 1, 1, 100.0, 2, 0)]
    of_fedex = WEEK._replace(carrier="fedex")
    assert table("carriers", of_fedex) == table("carriers")
    assert table("volume", of_fedex)[-1][1:] == (3, 1)


def test_precomputes_figures_although_some_fail(
    lead: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, reports = counting.count, len(figure_cache.quick_periods())

    def fail(selection: Scope, *rest: Any) -> Any:
        if selection.period.days not in days:
            raise ZeroDivisionError
        return real(selection, *rest)

    lead.get(DESK)
    cache.delete(f"desk:{figure_cache.FIGURES.key(lately())}")
    monkeypatch.setattr(counting, "count", fail)

    days = {28}
    assert jobs.count_figures() == 1
    failing = FailedRow.objects.filter(job="count_figures")
    assert [str(row) for row in failing.all()] == ["figures 7"]
    days = set(SPANS)
    assert jobs.count_figures() == 2
    assert not failing.exists()
    cache.set("desk:looked:report", True, timeout=60)
    days = {*range(1, 40)}
    assert jobs.count_figures() == 2 + reports - 1
    assert [str(row) for row in failing.all()] == ["report Last 90 days"]
    cache.clear()
    lead.get(DESK, {"carrier": "x"})
    days = set()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        jobs.count_figures()


def test_precomputes_nothing_while_no_lead_looks(
    lead: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted_keys() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert jobs.count_figures() == 0
        return len([one for one in queries if "core_pulse" not in one["sql"]])

    cache.clear()
    monkeypatch.setattr(counting, "count", None)
    counted_keys()
    unlooked = counted_keys()
    assert not any(cache.get(f"desk:{figure_cache.FIGURES.key(lately(days))}") for days in SPANS)
    monkeypatch.undo()

    lead.get(DESK)

    assert jobs.count_figures() == len(SPANS)
    cache.delete("desk:looked:figures")
    assert counted_keys() == unlooked


def test_narrows_all_tables_alike(company: Company, agent: Agent) -> None:
    now = timezone.now()
    build.ticket(company, created_at=now, type_id=2, agent=agent, carrier_name="ups")
    build.ticket(company, created_at=now, type_id=4, agent=agent, carrier_name="ups")
    build.ticket(company, created_at=now, type_id=2, carrier_name="dhl")

    def counts(**wanted: Any) -> list[int]:
        selection = lately(**wanted)
        return [table("volume", selection)[-1][1], table("backlog", selection)[0][1]]

    assert counts() == [3, 3]
    assert counts(type_id=2) == [2, 2]
    assert counts(agent_id=agent.pk) == [2, 2]
    assert counts(carrier="dhl") == [1, 1]
    assert counts(type_id=2, agent_id=agent.pk, carrier="ups") == [1, 1]
    assert counts(carrier="' OR 1=1 --") == [0, 0]


def test_shows_charts_and_tables_that_say_the_same(lead: Client, company: Company) -> None:
    now = timezone.now()
    build.ticket(company, carrier_name="<b>dhl</b>", created_at=now)
    decided(company, at=now, after=timedelta())  # an hour earlier may be another day

    html = lead.get(DESK, {"days": "28"}).content.decode()

    assert html.count("<svg class=") >= 4
    assert html.count('<table class="desk-table">') == 6
    assert f"{now:%d %b}: 2 opened" in html
    assert "&lt;b&gt;dhl" in html
    assert "<b>dhl" not in html


def test_query_count_is_independent_of_the_number_of_tickets(
    lead: Client, company: Company, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    def ask() -> None:
        cache.clear()
        with django_assert_max_num_queries(23):
            assert lead.get(DESK).status_code == 200

    build.ticket(company)
    ask()
    for number in range(30):
        agent, carrier = build.agent(f"a{number}"), f"c{number}"
        build.ticket(company, agent=agent, carrier_name=carrier, type_id=number % 4 + 2)
    ask()


def test_caches_a_selection_for_a_minute(
    lead: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.ticket(company)
    lead.get(DESK)
    monkeypatch.setattr(counting, "count", None)

    assert lead.get(DESK).status_code == 200


@pytest.mark.parametrize("days", ["7", "28"])
def test_precomputes_what_leads_open_first(
    lead: Client, company: Company, monkeypatch: pytest.MonkeyPatch, days: str
) -> None:
    lead.get(DESK, {"type": 2})
    build.ticket(company)
    jobs.count_figures()
    monkeypatch.setattr(counting, "count", None)

    tiles = dict(lead.get(DESK, {"days": days}).context["tiles"])
    assert tiles["Open now"] == "1"


@pytest.mark.parametrize("query", [{"days": "9999"}, {"type": "x"}, {"agent": "\u0661"}])
def test_ignores_invalid_filters(lead: Client, company: Company, query: dict) -> None:
    build.ticket(company)

    answer = lead.get(DESK, query)

    assert answer.context["asked_for"] == lately()


def test_agents_see_their_own_day_and_no_figures(
    desk: Client, company: Company, agent: Agent
) -> None:
    build.ticket(company, agent=agent, due_at=timezone.now() - HOUR)
    build.ticket(company, agent=agent, status=4)
    build.ticket(company)

    answer = desk.get(DESK)

    day = {key: answer.context["day"][key] for key in ("open", "overdue", "waiting")}
    assert day == {"open": 2, "overdue": 1, "waiting": 1}
    assert "figures" not in answer.context
    assert "Set as away" in answer.content.decode()


def test_first_page_works_without_ticket_permissions(operator: Client) -> None:
    assert operator.get(DESK).context["day"] is None


def test_shows_who_left_with_open_tickets(lead: Client, company: Company, agent: Agent) -> None:
    build.ticket(company, agent=agent)
    agent.user.is_active = False
    agent.user.save()

    assert "ada is no longer active but has open tickets." in lead.get(DESK).content.decode()


def exported(client: Client, slug: str, **query: str) -> list[list[str]]:
    answer = client.get(f"{DESK}figures/{slug}.csv", query)
    assert answer.status_code == 200
    text = b"".join(answer.streaming_content).decode()
    # Spreadsheets recognize UTF-8 by the byte order mark.
    assert text.startswith("\ufeff")
    return list(csv.reader(StringIO(text.removeprefix("\ufeff"))))


def test_shows_the_busiest_fifty_and_its_file_has_all(lead: Client, company: Company) -> None:
    for number in range(52):
        build.ticket(company, carrier_name=f"carrier {number}")

    html = lead.get("/admin/").content.decode()
    answer = lead.get("/admin/figures/carriers.csv")

    assert html.count('<th scope="row"><bdi>carrier ') == 50
    assert "2 more rows are in the CSV file." in html
    assert b"".join(answer).count(b"carrier ") == 52


def test_exports_what_it_shows_and_no_formula(lead: Client, company: Company) -> None:
    build.ticket(company, carrier_name="=HYPERLINK(1)", created_at=timezone.now())

    rows = exported(lead, "carriers")

    assert rows[0][:2] == ["Carrier", "Opened"]
    assert rows[1][:2] == ["'=HYPERLINK(1)", "1"]
    assert exported(lead, "carriers", carrier="dhl")[1:] == []
    assert lead.get(f"{DESK}figures/nothing.csv").status_code == 404


@pytest.mark.parametrize("cell", ["=1", "+1", "-1", "@x", "\tx", "\rx"])
def test_no_cell_is_a_formula(cell: str) -> None:
    assert csv_files.csv_cell(cell) == f"'{cell}"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("Hola;=1+1;adios", "Hola;'=1+1;adios"),
        ("a\t@SUM(1)", "a\t'@SUM(1)"),
        ("a|-1", "a|'-1"),
        ("a\n=1", "a\n'=1"),
        ("a; \u00a0+1", "a;' \u00a0+1"),
        ("a,=1", "a,'=1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        (";;=1", ";;'=1"),
    ],
)
def test_no_part_of_a_cell_is_a_formula_behind_another_separator(text: str, cell: str) -> None:
    assert csv_files.csv_cell(text) == cell


@pytest.mark.parametrize(
    "text", ["0042", "00", "12345678901234567", "12E5", 9007199254740993, -9007199254740993]
)
def test_numbers_that_spreadsheets_misread_stay_text(text: object) -> None:
    assert csv_files.csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["42", "0", "0.5", "123456789012345", "1 - 2", "A0042", "5; 3"])
def test_other_numbers_stay_as_they_are(text: str) -> None:
    assert csv_files.csv_cell(text) == text


def test_harmless_cells_stay_unchanged() -> None:
    assert [csv_files.csv_cell(cell) for cell in (-5, 1.5, None, "a=b", "")] == [
        -5,
        1.5,
        "",
        "a=b",
        "",
    ]


@pytest.mark.parametrize("page", ["fairness/", "fairness.csv", "volume.csv"])
def test_agents_and_strangers_see_no_figures(desk: Client, client: Client, page: str) -> None:
    assert desk.get(f"{DESK}figures/{page}").status_code == 403
    assert client.get(f"{DESK}figures/{page}")["Location"].startswith("/admin/login/")


def test_auditors_read_figures(client: Client, company: Company) -> None:
    auditor = User.objects.create_user("olga", is_staff=True)
    auditor.groups.add(roles.group("auditor"))
    client.force_login(auditor)

    assert client.get(DESK).context["figures"]
    assert client.get(f"{DESK}figures/fairness/").status_code == 200


def test_draws_columns_within_the_picture() -> None:
    chart = columns("x", ("a", "b"), [("one", (0, 7)), ("two", (3, 1))])

    assert [mark.text for mark in chart.grid] == ["0", "2", "4", "6", "8"]
    assert all(bar.x >= 0 and bar.x + bar.width <= chart.width for bar in chart.bars)
    assert all(bar.y >= 0 and bar.y + bar.height <= chart.floor + 0.1 for bar in chart.bars)
    assert chart.bars[1].tooltip == "one: 7 b"
    assert columns("x", ("a",), []).bars == []


@pytest.mark.parametrize(
    ("most", "top"),
    [(0, 4), (4, 4), (5, 8), (9, 20), (21, 40), (81, 100), (1430, 2000), (2001, 4000)],
)
def test_rounds_the_scale_up(most: float, top: float) -> None:
    assert round_up(most) == top


@pytest.mark.parametrize(
    ("minutes", "expected"), [(0.2, "0 min"), (59, "59 min"), (90, "1 h 30 min"), (1500, "1 d 1 h")]
)
def test_durations_have_two_units(minutes: float, expected: str) -> None:
    assert duration(timedelta(minutes=minutes)) == expected


def test_empty_result_is_cached_too() -> None:
    calls: list[int] = []

    def count() -> list[int]:
        calls.append(1)
        return []

    assert [cached("nothing", 60, count) for _ in range(2)] == [[], []]
    assert len(calls) == 1
