"""Search finds tickets by what agents know of them, through indexes, and never without bounds."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companies.models import Company
from desk.queue import search
from tests import builders as build
from tests.desk.test_queues import listed
from tickets.models import Comment, Ticket


@pytest.fixture(autouse=True)
def no_old_answers(db: None) -> None:
    cache.clear()


def say(ticket: Ticket, text: str, *, public: bool = True) -> None:
    Comment.objects.create(
        ticket=ticket, by="agent", public=public, text=text, status=1, created_at=timezone.now()
    )


def test_finds_by_ids_and_tracking_number(desk: Client, company: Company, birch: Company) -> None:
    shipment = build.shipment(company, 88_000_001, tracking_number="AB12CD")
    ours = build.ticket(company, shipment_id=88_000_001, status=2).pk
    # Somebody else's ticket about a number that is not theirs.
    theirs = build.ticket(birch, shipment_id=88_000_001).pk

    assert listed(desk, q=str(ours)) == [ours]
    assert listed(desk, q=" 88000001 ", queue="mine") == [theirs, ours]
    assert listed(desk, q=shipment.tracking_number) == [ours]
    assert listed(desk, q="ab12cd") == [ours]
    for nothing in ("AB12C", "9" * 30, "\u0661"):
        assert listed(desk, q=nothing) == []


def test_finds_a_tracking_number_that_is_a_number(desk: Client, company: Company) -> None:
    build.shipment(company, 4101, tracking_number="70001234")
    ours = build.ticket(company, shipment_id=4101).pk

    assert listed(desk, q="70001234") == [ours]


def test_finds_by_the_beginning_of_a_company_s_name(
    desk: Client, company: Company, birch: Company
) -> None:
    build.ticket(company)
    theirs = build.ticket(birch).pk

    assert listed(desk, q="Birch") == listed(desk, q="bir") == [theirs]
    for nothing in ("irch", "%", "_irch", "bir\\"):
        assert listed(desk, q=nothing) == []


def test_finds_by_words_of_the_first_text_and_of_the_conversation(
    desk: Client, company: Company
) -> None:
    first = build.ticket(company, comments="The box was Wet, and torn open.").pk
    second = build.ticket(company, comments="Where is it?")
    say(second, "It got wet at the depot.", public=False)

    assert listed(desk, q="wet") == [second.pk, first]
    assert listed(desk, q="wet depot") == [second.pk]
    assert listed(desk, q='"torn open"') == [first]
    assert listed(desk, q="wet -depot") == [first]
    for nothing in ("we", "dry", "!", "-", '"', "~0", "block 0", "'; DROP TABLE x; --"):
        assert listed(desk, q=nothing) == []


def test_takes_the_newest_when_too_many_have_a_word_and_says_so(
    desk: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search.search_tickets, "__defaults__", (2,))
    found = [build.ticket(company, comments="late").pk for _ in range(3)][::-1]

    answer = desk.get("/admin/tickets/ticket/", {"q": "late"})

    assert [one.pk for one in answer.context["cl"].result_list] == found[:2]
    assert "These are the newest 1,000" in answer.content.decode()
    assert (
        "These are the newest"
        not in desk.get("/admin/tickets/ticket/", {"q": str(found[0])}).content.decode()
    )


def test_asks_for_ids_as_they_are_and_for_no_part_of_a_text(desk: Client, company: Company) -> None:
    """Trap: the admin's own search casts ids to text and upper-cases columns."""
    build.ticket(company)
    with CaptureQueriesContext(connection) as asked:
        listed(desk, q="4101 lost")
        listed(desk, q="4101")

    statements = " ".join(query["sql"] for query in asked.captured_queries)
    assert "::text =" not in statements
    assert "ILIKE" not in statements
    assert "UPPER(" not in statements
    assert "LIKE '%" not in statements


def test_asks_for_what_it_has_found_in_the_order_of_ids(desk: Client, company: Company) -> None:
    """Trap: in the order of time, PostgreSQL may walk over all tickets to find those."""
    build.ticket(company, comments="late")
    with CaptureQueriesContext(connection) as asked:
        listed(desk, q="late")

    assert not any('"created_at" DESC' in query["sql"] for query in asked.captured_queries)


def test_offers_ten_tickets_at_most_in_the_palette(desk: Client, company: Company) -> None:
    """Trap: the palette's own search loads every ticket that fits."""
    for _ in range(12):
        build.ticket(company, comments="late")
    desk.get("/admin/search/", {"s": "nothing", "extended": "1"})

    with CaptureQueriesContext(connection) as asked:
        html = desk.get("/admin/search/", {"s": "late", "extended": "1"}).content.decode()

    assert html.count("/admin/tickets/ticket/") - html.count('/admin/tickets/ticket/"') == 10
    assert sum("tickets_ticket" in query["sql"] for query in asked.captured_queries) == 2


def test_offers_no_ticket_to_who_may_see_none(client: Client, company: Company) -> None:
    ticket = build.ticket(company, comments="late")
    clerk = build.agent("clerk")
    clerk.user.groups.clear()
    client.force_login(clerk.user)

    html = client.get("/admin/search/", {"s": "late", "extended": "1"}).content.decode()

    assert f"#{ticket.pk}" not in html
