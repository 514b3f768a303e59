"""No company's texts make an answer of the API larger than 4 MiB (decision N40)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from companies.models import Company
from core.api.answer_sizes import MOST_BYTES
from tests import builders as build
from tickets.api import page_bounds
from tickets.models import Comment, Document, HistoryEntry, Rating, Ticket

LONG = 64 * 1024


def talk(ticket: Ticket, number: int, text: str = "{}", **changes: Any) -> None:
    values = {"by": "company", "status": 1, "created_at": timezone.now(), **changes}
    long = len(text) > 1000
    lines = [str(each) if long else text.format(each) for each in range(number)]
    comments = [Comment(ticket=ticket, text=each, **values) for each in lines]
    Comment.objects.bulk_create(comments)
    if long:
        # Send the request once: quoting many long texts takes seconds.
        Comment.objects.filter(pk__in=[each.pk for each in comments]).update(text=text)


def ask(api: APIClient, address: str, **query: Any) -> dict[str, Any]:
    answer = api.get(address, query)
    assert answer.status_code == 200, answer.content
    assert len(answer.content) <= MOST_BYTES
    data: dict[str, Any] = answer.json()
    return data


def walk(api: APIClient, address: str, **query: Any) -> list[list[dict[str, Any]]]:
    """Return the pages of a list from first to last."""
    pages, cursor = [], None
    while cursor is not None or not pages:
        answer = ask(api, address, **query, **({"cursor": cursor} if cursor else {}))
        pages.append(answer["data"])
        cursor = answer["next_cursor"]
        if "updated_since" in query and not answer["data"]:
            break
    return pages


def texts(comments: list[dict[str, Any]]) -> list[str]:
    return [one["description"] for one in comments]


def test_a_list_has_the_newest_50_comments_and_a_ticket_the_newest_200(
    api: APIClient, company: Company, birch: Company
) -> None:
    busy, quiet = build.ticket(company), build.ticket(company)
    talk(busy, 230)
    talk(busy, 5, "note {}", by="agent", public=False)
    talk(quiet, 2)
    talk(build.ticket(birch), 300, "SECRET {}")

    rows = {row["id"]: row for row in ask(api, "/company/tickets", getComments="1")["data"]}
    (detail,) = ask(api, f"/company/tickets/{busy.pk}", getComments="1")["data"]

    assert texts(rows[busy.pk]["allComments"]) == [str(one) for one in range(180, 230)]
    assert rows[busy.pk]["last_comment"]["comment_text"] == "229"
    assert texts(rows[quiet.pk]["allComments"]) == ["0", "1"]
    totals = {ticket: row["comments_total"] for ticket, row in rows.items()}
    assert totals == {busy.pk: 230, quiet.pk: 2}
    assert texts(detail["allComments"]) == [str(one) for one in range(30, 230)]
    assert detail["comments_total"] == 230
    assert "comments_total" not in ask(api, f"/company/tickets/{busy.pk}")["data"][0]


def test_comments_go_on_by_cursor_and_a_new_one_is_not_missed(
    api: APIClient, company: Company
) -> None:
    ticket = build.ticket(company)
    talk(ticket, 7)
    address = f"/company/tickets/comments/{ticket.pk}"

    assert set(ask(api, address)) == {"data", "next_cursor"}
    assert ask(api, address)["next_cursor"] is None
    first = ask(api, address, limit=3)
    assert (texts(first["data"]), type(first["next_cursor"])) == (["0", "1", "2"], str)
    talk(ticket, 1, "new")
    pages = walk(api, address, limit=4)
    assert [texts(page) for page in pages] == [["0", "1", "2", "3"], ["4", "5", "6", "new"]]


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1-2", "9" * 30])
def test_invalid_comment_cursor_is_refused(api: APIClient, company: Company, cursor: str) -> None:
    address = f"/company/tickets/comments/{build.ticket(company).pk}"

    answer = api.get(address, {"cursor": cursor})

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["cursor"]


@pytest.mark.parametrize("letter", ["a", "é", '"', "\x01"])
def test_long_comments_fill_no_answer_and_all_are_reached(
    api: APIClient, company: Company, letter: str
) -> None:
    text = letter * (LONG // len(letter.encode()))
    tickets = [build.ticket(company) for _ in range(4)]
    for ticket in tickets:
        talk(ticket, 40, text)

    (detail,) = ask(api, f"/company/tickets/{tickets[0].pk}", getComments="1")["data"]
    assert 0 < len(detail["allComments"]) < 40
    assert detail["comments_total"] == 40

    pages = walk(api, "/company/tickets", getComments="1")
    assert [row["id"] for page in pages for row in page] == [one.pk for one in reversed(tickets)]
    assert all(row["allComments"] for page in pages for row in page)

    pages = walk(api, f"/company/tickets/comments/{tickets[0].pk}")
    assert [len(texts(page)) > 0 for page in pages] == [True] * len(pages)
    assert sum(len(page) for page in pages) == 40


@pytest.mark.parametrize("query", [{}, {"updated_since": "2020-01-01T00:00:00Z"}])
def test_a_page_of_long_texts_ends_early_and_goes_on(
    api: APIClient, company: Company, query: dict[str, str]
) -> None:
    past = timezone.now() - timedelta(hours=1)
    tickets = [
        build.ticket(
            company, comments="c" * LONG, data='{"a":"' + "d" * LONG + '"}', updated_at=past
        )
        for _ in range(60)
    ]
    for ticket in tickets:
        Document.objects.create(ticket=ticket, position=0, field_id="a", value="v" * LONG)
        Rating.objects.create(ticket=ticket, rating=5, comment="r" * LONG, created_at=past)

    first = ask(api, "/company/tickets", limit=100, **query)
    pages = walk(api, "/company/tickets", limit=100, **query)

    assert (first["total_rows"], len(first["data"]) < 60) == (60, True)
    assert len(pages) > 3
    ids = [row["id"] for page in pages for row in page]
    assert sorted(ids) == [ticket.pk for ticket in tickets]


def test_texts_beyond_the_page_are_not_read(
    api: APIClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trap: process and database carry all texts for each request."""
    read: list[int] = []
    real = page_bounds.statements.fetch_rows

    def measured(statement: str, values: Any) -> list[tuple[Any, ...]]:
        rows = real(statement, values)
        read.append(sum(len(each) for row in rows for each in row if isinstance(each, str)))
        return rows

    monkeypatch.setattr(page_bounds.statements, "fetch_rows", measured)
    for _ in range(3):
        talk(build.ticket(company), 60, "x" * LONG)

    ask(api, "/company/tickets", getComments="1")
    ask(api, f"/company/tickets/comments/{company.tickets.first().pk}")

    assert 0 < max(read) <= MOST_BYTES


def test_history_shows_the_newest_thousand_moves(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)
    at = timezone.now()
    HistoryEntry.objects.bulk_create(
        HistoryEntry(ticket=ticket, by="company", was=1, now=10 - each % 2 * 9, created_at=at)
        for each in range(1_201)
    )

    (row,) = ask(api, f"/company/tickets/{ticket.pk}")["data"]

    assert len(row["history"]) == 1_000
    assert row["history"][-1]["to"] == 10


def test_change_while_reading_skips_no_ticket(
    api: APIClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = timezone.now() - timedelta(hours=1)
    first = build.ticket(company, updated_at=past)
    second = build.ticket(company, updated_at=past + timedelta(minutes=1))
    real = page_bounds.read_fitting

    def changed(*values: Any) -> page_bounds.Page:
        Ticket.objects.filter(pk=first.pk).update(updated_at=past + timedelta(minutes=2))
        return real(*values)

    monkeypatch.setattr(page_bounds, "read_fitting", changed)
    pages = walk(api, "/company/tickets", updated_since="2020-01-01T00:00:00Z", limit=1)

    assert [row["id"] for page in pages for row in page] == [first.pk, second.pk, first.pk]
