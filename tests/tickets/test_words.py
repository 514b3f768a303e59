"""A company finds its tickets by words, through an index that keeps companies apart."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.tickets.test_indexes import scans
from tests.tickets.test_list import ids, listed
from tickets.api import searching
from tickets.models import Comment, Ticket


def say(ticket: int, text: str, *, public: bool = True) -> None:
    Comment.objects.create(
        ticket_id=ticket, by="agent", public=public, text=text, status=1, created_at=timezone.now()
    )


def test_finds_words_of_text_conversation_and_variables(api: APIClient, company: Company) -> None:
    text = build.ticket(company, comments="The blue LAMP is torn.").pk
    data = build.ticket(company, data='{"content":"lamp","floor":3}').pk
    ticket_with_text = build.ticket(company, comments="Nothing to see.").pk
    say(ticket_with_text, "Was it the lamp?")
    ticket_with_note = build.ticket(company).pk
    say(ticket_with_note, "A lamp, they say.", public=False)

    assert ids(api, q="lamp") == [ticket_with_text, data, text]
    assert ids(api, q="lamp torn") == [text]
    assert ids(api, q='"blue lamp"') == [text]
    assert ids(api, q="lamp -torn") == [ticket_with_text, data]
    assert ids(api, q="lamp", status=1, limit=1, page=2) == [data]
    for nothing in ("lam", "!", "-", "company 1 block 0", "'; DROP TABLE x; --"):
        assert ids(api, q=nothing) == []


def test_finds_nothing_of_another_company(api: APIClient, birch: Company) -> None:
    theirs = build.ticket(birch, comments="lamp").pk
    say(theirs, "lamp")

    assert listed(api, q="lamp")["total_rows"] == 0


def test_says_when_there_are_more_than_it_shows(
    api: APIClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [build.ticket(company, comments="lamp").pk for _ in range(4)]
    monkeypatch.setattr(searching, "MOST_FOUND", 3)

    answer = listed(api, q="lamp")
    assert [row["id"] for row in answer["data"]] == ids[:0:-1]
    assert (answer["total_rows"], answer["total_rows_exact"]) == (3, False)
    assert listed(api, q="lamp", date_to="2026-01-01")["total_rows_exact"]


def test_reads_only_the_words_of_the_company(company: Company, birch: Company) -> None:
    """Read few rows however often other companies use the word."""
    for number in range(300):
        build.ticket(birch, comments=f"lamp {number}")
    ours = build.ticket(company, comments="lamp")
    say(ours.pk, "lamp")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE tickets_ticket, tickets_comment")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
    now = timezone.now()
    with CaptureQueriesContext(connection) as queries:
        result = searching.find_words(company.pk, "lamp", ours.created_at, now)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {queries[0]['sql']}")
        plan = cursor.fetchone()[0][0]["Plan"]

    assert result.ids == [ours.pk]
    assert {"ticket_words_of", "comment_words_of"} <= set(scans(plan))
    assert rows_of(plan, "ticket_words_of") == 1


def rows_of(plan: dict, index: str) -> int:
    times = plan["Actual Loops"] if plan.get("Index Name") == index else 0
    own = round(plan["Actual Rows"] * times)
    return own + sum(rows_of(part, index) for part in plan.get("Plans", []))


def test_a_comment_knows_its_company_whoever_writes_it(company: Company) -> None:
    ticket = build.ticket(company)
    say(ticket.pk, "x")

    assert Comment.objects.get().company_id == Ticket.objects.get().company_id
