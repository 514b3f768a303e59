"""List of a company's tickets: tabs, pages, search."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from portal import list_pages
from tests import builders as build
from tests.plans import offer_only
from tests.portal.conftest import Enter
from tests.tickets.test_long_lists import rows_read
from tickets.changes.actors import SANDBOX
from tickets.changes.writes import add_comment
from tickets.models import Ticket
from tickets.statuses import OPEN, TERMINAL, WAITING_FOR_COMPANY, Status

LIST = "/c/tickets"
MOMENT = datetime(2026, 11, 27, 2, 12, 5, tzinfo=UTC)
# Decided tickets in the newest thousand of a company, and a few of every other status.
MANY = """
INSERT INTO tickets_ticket (company_id, type_id, status, comments, carrier_name, version,
  created_at, updated_at, clock_digest)
SELECT %(company)s, 3, CASE WHEN number <= %(all)s - 40 THEN 2 + number %% 2
    ELSE (%(statuses)s::int[])[1 + number %% array_length(%(statuses)s::int[], 1)] END,
  '', '', 1, now() - number * interval '1 minute', now(), 0
FROM generate_series(1, %(all)s) AS number
"""


def text_of(response: Any) -> str:
    """Return the words of a page, without its tags."""
    html = re.sub(r"<[^>]*>", " ", response.content.decode())
    return " ".join(unescape(html).split())


def numbers(response: HttpResponse) -> list[int]:
    """Return the tickets that a page lists, in its order."""
    return [int(one) for one in re.findall(r'"/c/tickets/(\d+)"', response.content.decode())]


def show(client: Client, **query: object) -> HttpResponse:
    response: Any = client.get(LIST, query)
    assert response.status_code == 200
    return response


def make_many(company: Company, number: int = 1_200) -> None:
    statuses = [status.value for status in sorted(OPEN)]
    with connection.cursor() as cursor:
        values = {"company": company.pk, "all": number, "statuses": statuses}
        cursor.execute(MANY, values)
        cursor.execute("ANALYZE tickets_ticket")


def test_tabs_partition_tickets_by_whose_turn_it_is(
    by_session: Enter, company: Company, birch: Company
) -> None:
    tickets = {status: build.ticket(company, status=status).pk for status in Status}
    for status in Status:
        build.ticket(birch, status=status)
    client = by_session(company)

    for tab, statuses in (
        ("needs-you", WAITING_FOR_COMPANY),
        ("open", OPEN),
        ("decided", TERMINAL),
    ):
        page = show(client, show=tab)
        expected = sorted((tickets[status] for status in statuses), reverse=True)
        assert numbers(page) == expected
        assert f"?show={tab}" in page.content.decode()
    counts = f"Needs you ({len(WAITING_FOR_COMPANY)}) Open ({len(OPEN)}) Decided ({len(TERMINAL)})"
    assert counts in text_of(page)


def test_begins_with_what_needs_an_answer_else_with_open_tickets(
    by_session: Enter, company: Company
) -> None:
    client = by_session(company)
    assert "There are no open tickets." in text_of(show(client))
    ours = build.ticket(company, status=Status.IN_REVIEW)
    assert numbers(show(client)) == [ours.pk]
    theirs = build.ticket(company, status=Status.INCOMPLETE)
    assert numbers(show(client)) == [theirs.pk]
    assert numbers(show(client, show="nonsense")) == [theirs.pk]


def test_row_says_what_it_is_about_in_the_readers_words_and_zone(
    by_session: Enter, company: Company
) -> None:
    company.language, company.time_zone = "es", "America/Mexico_City"
    company.save()
    build.shipment(company, 77, tracking_number="GUÍA-Ñ 🎁 <b>")
    due = timezone.now().replace(2090, 11, 27, 2, 12)
    build.ticket(
        company,
        type_id=5,
        shipment_id=77,
        status=Status.INCOMPLETE,
        updated_at=MOMENT,
        filing_due_at=due,
    )

    page = show(by_session(company))

    text = text_of(page)
    assert "Daño Incompleto Número de guía GUÍA-Ñ 🎁 <b>" in text
    assert 'class="state amber"' in page.content.decode()
    assert "Última actividad: 26/11/2026 20:12" in text
    assert "Responda a más tardar el domingo 26 de noviembre de 2090, 8:12 p. m. (hora del" in text
    assert "Horario: hora del centro." in text
    assert 'lang="es"' in page.content.decode()


@pytest.mark.parametrize("changes", [{"status": Status.PENDING}, {"filing_due_at": MOMENT}])
def test_no_deadline_that_is_not_the_companys_or_has_passed(
    by_session: Enter, company: Company, changes: dict[str, Any]
) -> None:
    soon = timezone.now() + timedelta(days=1)
    values = {"status": Status.INCOMPLETE, "filing_due_at": soon, **changes}
    build.ticket(company, **values)
    if "filing_due_at" in changes:
        Ticket.objects.update(filing_due_at=timezone.now() - timedelta(minutes=1))

    assert "Answer by" not in text_of(show(by_session(company)))


def test_older_tickets_follow_page_by_page(
    by_session: Enter, company: Company, birch: Company
) -> None:
    """Keep the order by time and number, also where times are equal."""
    now = timezone.now()
    tickets = [build.ticket(company, created_at=now) for _ in range(40)]
    tickets += [build.ticket(company, created_at=now + timedelta(seconds=1)) for _ in range(15)]
    client, seen, link = by_session(company), [], f"{LIST}?show=open"

    for _ in range(3):
        page = client.get(link)
        seen += numbers(page)
        assert len(numbers(page)) <= list_pages.PAGE
        older = re.search(r'href="(\?show=open&amp;after=\d+)"', page.content.decode())
        link = f"{LIST}{unescape(older[1])}" if older else ""

    assert link == ""
    # The later second comes first, and within a second the highest number.
    assert seen == [one.pk for one in [*tickets[:39:-1], *tickets[39::-1]]]
    # A place in another company's list is none.
    stranger = build.ticket(birch)
    assert numbers(show(client, show="open", after=stranger.pk)) == seen[:25]
    assert numbers(show(client, show="open", after="x'")) == seen[:25]


def test_search_finds_numbers_exactly_and_words_otherwise(
    by_session: Enter, company: Company, birch: Company
) -> None:
    for one, owner in ((4101, company), (4102, birch)):
        build.shipment(owner, one, tracking_number=f"1Z 999 {one}")
        build.ticket(owner, shipment_id=one, comments="La caja llegó rota ayer")
    mine, stranger = Ticket.objects.order_by("pk")
    decided = build.ticket(company, status=Status.ACCEPTED, comments="Ningún café")
    client = by_session(company)

    def found(words: str) -> list[int]:
        return numbers(show(client, q=words))

    assert found(str(mine.pk)) == found(f" #{mine.pk} ") == [mine.pk]
    assert found("1z9994101") == [mine.pk]
    assert found("rota caja") == found("LLEGÓ") == [mine.pk]
    assert found("café") == [decided.pk]
    for none in (str(stranger.pk), "1Z 999 4102", "elefante", "\x00", "9" * 300, "'; --", "🎁"):
        page = show(client, q=f"{none} " if none != "\x00" else "x\x00y")
        assert numbers(page) == []
        assert "No ticket matches" in text_of(page)
    assert "Open (1)" in text_of(page)


def test_search_has_pages_too(by_session: Enter, company: Company) -> None:
    tickets = [build.ticket(company, comments="Café & té", status=2) for _ in range(30)]
    client = by_session(company)

    first = show(client, q="café & té")
    older = re.search(r'href="(\?q=[^"]*after=\d+)"', first.content.decode())
    assert older
    second: Any = client.get(f"{LIST}{unescape(older[1])}")

    listed = [*numbers(first), *numbers(second)]
    assert listed == [one.pk for one in reversed(tickets)]


def test_typed_words_are_shown_as_text(by_session: Enter, company: Company) -> None:
    page = show(by_session(company), q='"><script>alert(1)</script>')

    assert "<script>alert" not in page.content.decode()
    assert '“"><script>alert(1)</script>”' in unescape(page.content.decode())


def test_number_of_queries_is_that_of_one_row(by_session: Enter, company: Company) -> None:
    client = by_session(company)
    used = []
    for number in (1, 24):
        for _ in range(number):
            shipment = build.shipment(company, 1 + company.shipments.count())
            build.ticket(company, shipment_id=shipment.pk, comments="word", status=4)
        for query in ({}, {"q": "word"}):
            with CaptureQueriesContext(connection) as queries:
                show(client, **query)
            used.append(len(queries))

    assert used[:2] == used[2:]
    assert max(used) <= 10


@pytest.mark.parametrize("query", [{}, {"show": "open"}, {"show": "decided"}], ids=str)
def test_long_list_costs_as_much_as_a_short_one(
    by_session: Enter,
    company: Company,
    birch: Company,
    query: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(list_pages, "MOST_COUNTED", 50)
    make_many(company, 3_000)
    make_many(birch, 3_000)
    offer_only("ticket_company_by_status", "tickets_ticket_pkey")
    client = by_session(company)

    with CaptureQueriesContext(connection) as queries:
        first = show(client, **query)
    with CaptureQueriesContext(connection) as later:
        show(client, **query, after=numbers(first)[-1])

    assert "Decided (50 or more)" in text_of(first)
    reads = [each["sql"] for each in (*queries, *later) if "tickets_ticket" in each["sql"]]
    assert len(reads) >= 10
    assert max(map(rows_read, reads)) <= 60


def test_more_than_a_thousand_are_not_counted(by_session: Enter, company: Company) -> None:
    make_many(company)

    assert "Open (40) Decided (1,000 or more)" in text_of(show(by_session(company)))


def test_only_a_session_for_tickets_sees_the_list(
    by_session: Enter, by_link: Enter, company: Company
) -> None:
    ticket = build.ticket(company)
    for client in (Client(), by_link(ticket), by_session(company, tickets=False)):
        for path in (LIST, f"{LIST}/new", f"{LIST}/new/3"):
            page = client.get(path)
            assert page.status_code == 403
            assert company.name not in page.content.decode()
    assert by_session(company).post(LIST).status_code == 405


def test_nothing_internal_shows(
    by_session: Enter, company: Company, birch: Company, django_user_model: Any
) -> None:
    agent = build.agent("canary-agent")
    ticket = build.ticket(company, agent=agent, status=Status.INCOMPLETE, comments="shown word")
    add_comment(ticket, SANDBOX, "canary-note", public=False)
    build.ticket(birch, comments="canary-stranger shown word")
    client = by_session(company)

    pages = [show(client), show(client, q="shown word"), show(client, q="canary-note")]

    assert [numbers(page) for page in pages] == [[ticket.pk], [ticket.pk], []]
    for page in pages[:2]:
        assert "canary" not in page.content.decode()
        assert "Birch" not in page.content.decode()
