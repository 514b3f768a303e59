"""A company's page: its tickets, its webhooks and their health, and how many it has of each."""

import re
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from deliveries import publishing
from deliveries.models import Health
from desk.people import company_overview
from tests import builders as build
from tests.desk.words import words
from tests.tickets.test_long_lists import MANY
from tickets import roles
from tickets.models import Ticket
from tickets.statuses import Status


def address(company: Company) -> str:
    return f"/admin/companies/company/{company.pk}/change/"


def page(client: Client, company: Company) -> str:
    answer = client.get(address(company))
    assert answer.status_code == 200
    return answer.content.decode()


def operator_of_the_service() -> Client:
    client = Client()
    client.force_login(roles.create_user("olga", "a long enough phrase", "operator"))
    return client


def figures(html: str) -> dict[str, str]:
    pairs = re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", html, re.DOTALL)
    return {words(name).strip(): words(value).strip() for name, value in pairs}


def test_counts_its_tickets_by_status_and_leads_to_the_lists_of_them(
    desk: Client, company: Company, birch: Company
) -> None:
    for status in (Status.PENDING, Status.PENDING, Status.DECLINED):
        build.ticket(company, status=status)
    build.ticket(birch, status=Status.PENDING)

    html = page(desk, company)

    counts = figures(html)
    assert (counts["Pending"], counts["Declined"], counts["Accepted"]) == ("2", "1", "0")
    links = re.findall(rf'href="([^"]*company={company.pk}&amp;status=\d+)"', html)
    sizes = [
        desk.get(link.replace("&amp;", "&")).context["cl"].result_count for link in sorted(links)
    ]
    assert sorted(sizes) == [1, 2]


def test_shows_the_newest_ten_and_each_carries_the_list_of_the_company(
    desk: Client, company: Company, birch: Company
) -> None:
    at = timezone.now()
    tickets = [
        build.ticket(company, created_at=at + timedelta(minutes=number)).pk for number in range(12)
    ]
    build.ticket(birch, created_at=at + timedelta(minutes=5))

    links = re.findall(
        r'href="(/admin/tickets/ticket/\d+/change/\?list=[^"]+)"', page(desk, company)
    )

    assert [int(link.split("/")[4]) for link in links] == tickets[:1:-1]
    walk = desk.get(links[3]).context["walk"]
    assert (walk.previous.ticket_id, walk.next.ticket_id) == (tickets[9], tickets[7])


def test_shows_its_webhooks_and_their_health(
    desk: Client, company: Company, birch: Company
) -> None:
    well = build.webhook(company)
    failing = build.webhook(company, url="https://broken.example.com/in")
    Health.objects.create(webhook=failing, failures=7, failing_since=timezone.now())
    build.webhook(company, url="https://gone.example.com/in", deleted_at=timezone.now())
    build.webhook(birch, url="https://birch.example.com/in")
    publishing.publish([build.news(company)])

    html = page(desk, company)

    section = html[
        html.index('id="webhooks"') : html.index("</section>", html.index('id="webhooks"'))
    ]
    text = words(section)
    assert f"/webhook/{well.pk}/change/" in section
    assert "healthy 1 1 0" in text
    assert "failing 1 1 7" in text
    assert not {"gone.example.com", "birch.example.com"} & set(re.findall(r"[\w.]+\.com", text))


def test_counts_of_thirty_days_are_bounded(
    desk: Client, company: Company, birch: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    for days in (0, 1, 28, 31):
        build.ticket(company, created_at=now - timedelta(days=days))
    for owner in (company, birch):
        build.webhook(owner)
    publishing.publish([build.news(company, 1), build.news(company, 2), build.news(birch, 3)])

    html = page(desk, company)

    assert figures(html)["Opened in 30 days"] == "3"
    assert "healthy 2 2 0" in words(html)
    link = re.search(r'href="([^"]*opened_from=[^"]*)"', html)
    assert link
    assert desk.get(link[1].replace("&amp;", "&")).context["cl"].result_count == 3
    monkeypatch.setattr(company_overview, "MOST_OF_A_MONTH", 1)
    assert figures(page(desk, company))["Opened in 30 days"] == "1 or more"


def test_who_may_see_no_tickets_sees_webhooks_and_who_sees_neither_is_refused(
    company: Company,
) -> None:
    build.ticket(company)
    build.webhook(company)

    html = page(operator_of_the_service(), company)

    assert "Newest tickets" not in html
    assert "Opened in 30 days" not in html
    assert "hooks.example.com" in html
    assert Client().get(address(company)).status_code == 302


def fill(company: Company, number: int) -> None:
    for status in Status:
        build.ticket(company, status=status)
    for place in range(number):
        webhook = build.webhook(company)
        resting = timezone.now() + timedelta(hours=1)
        Health.objects.create(webhook=webhook, failures=place, resting_until=resting)
    publishing.publish([build.news(company, place) for place in range(number)])


def count_queries(desk: Client, company: Company) -> int:
    cache.clear()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        page(desk, company)
    return len(queries)


def test_query_count_is_independent_of_a_company_s_rows(
    desk: Client, company: Company, birch: Company
) -> None:
    fill(company, 1)
    for _ in range(4):
        fill(birch, 3)
    count_queries(desk, company)

    assert count_queries(desk, birch) == count_queries(desk, company) <= 25


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for part in plan.get("Plans", []) for node in nodes(part))]


def test_counts_use_indexes_on_their_owner(company: Company, birch: Company) -> None:
    values = {
        "company": company.pk,
        "statuses": [1],
        "webhooks": [1],
        "since": timezone.now(),
        "most": 10,
    }
    plans = []
    with connection.cursor() as cursor:
        for one in (company, birch):
            cursor.execute(MANY, [one.pk, 1000])
        cursor.execute("ANALYZE tickets_ticket")
        cursor.execute("SET LOCAL enable_seqscan = off")
        for statement in (company_overview.BY_STATUS, company_overview.DELIVERIES):
            cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
            plans += nodes(cursor.fetchone()[0][0]["Plan"])

    read = [node for node in plans if "Relation Name" in node]
    assert len(read) > 2
    # Bitmap heap scans name their condition Recheck Cond.
    asked_of_index = [f"{node.get('Index Cond')} {node.get('Recheck Cond')}" for node in read]
    owned = ("company_id", "webhook_id")
    assert [one for one in asked_of_index if not any(name in one for name in owned)] == []


@pytest.mark.parametrize(
    ("zone", "now", "begins"),
    [
        ("Asia/Tokyo", "2026-03-31T20:00:00Z", "2026-03-02T15:00:00Z"),
        ("America/Mexico_City", "2026-04-01T03:00:00Z", "2026-03-02T06:00:00Z"),
        ("UTC", "2026-04-01T03:00:00Z", "2026-03-03T00:00:00Z"),
    ],
)
def test_thirty_days_begin_at_the_reader_s_midnight(
    desk: Client,
    company: Company,
    monkeypatch: pytest.MonkeyPatch,
    zone: str,
    now: str,
    begins: str,
) -> None:
    first = datetime.fromisoformat(begins)
    for seconds in (-1, 0, 1):
        build.ticket(company, created_at=first + timedelta(seconds=seconds))
    monkeypatch.setattr(timezone, "now", lambda: datetime.fromisoformat(now))
    user = User.objects.get(username="ada")

    with timezone.override(ZoneInfo(zone)):
        overview = company_overview.company_overview(company, user)
        listed = Ticket.objects.filter(
            created_at__gte=timezone.make_aware(datetime.fromisoformat(overview["first_day"]))
        )

        assert overview["opened"] == listed.count() == 2


def test_zone_is_set_if_valid_and_permitted(
    operator: Client, desk: Client, company: Company, birch: Company
) -> None:
    tokens = {f"tokens-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
    form = {"name": "Acme", "active": "on", **tokens}

    refused = operator.post(address(company), {**form, "time_zone": "Mars/Base"})
    forbidden = desk.post(address(company), {**form, "time_zone": "Asia/Tokyo"})
    saved = operator.post(address(company), {**form, "time_zone": "America/Mexico_City"})

    html = operator.get(address(company)).content.decode()
    assert '<option value="America/Mexico_City" selected>' in html
    assert "As the deployment: UTC" in html
    assert "There is no time zone Mars/Base." in refused.content.decode()
    assert (forbidden.status_code, saved.status_code) == (403, 302)
    zones = Company.objects.order_by("pk").values_list("time_zone", flat=True)
    assert list(zones) == ["America/Mexico_City", ""]
    entry = LogEntry.objects.get()
    assert ("time zone" in entry.get_change_message().lower(), entry.object_id) == (
        True,
        str(company.pk),
    )
