import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets.models import Comment, HistoryEntry, Ticket
from tickets.statuses import TERMINAL, Status


def post(api: APIClient, ticket: Ticket, body: Any) -> Response:
    answer = api.post(f"/company/tickets/{ticket.pk}/comments", body)
    ticket.refresh_from_db()
    return answer


@pytest.mark.parametrize("status", [1, 4, 5, 10])
def test_adds_a_comment_and_leaves_the_status(
    api: APIClient, company: Company, status: int
) -> None:
    long_ago = timezone.now() - timedelta(days=1)
    ticket = build.ticket(company, status=status, updated_at=long_ago)

    answer = post(api, ticket, {"comment": " Any news? "})

    assert (answer.status_code, answer.json()) == (200, {"data": True})
    assert answer["X-Ticket-Changed"] == "1"
    comment = Comment.objects.get()
    assert (comment.text, comment.by, comment.public) == (" Any news? ", "company", True)
    assert (comment.status, ticket.status) == (status, status)
    assert ticket.updated_at > long_ago
    assert not HistoryEntry.objects.exists()


def test_brings_a_ticket_in_review_back_to_an_agent(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=6)

    answer = post(api, ticket, {"comment": "The box was wet."})

    assert (answer.status_code, answer["X-Ticket-Status"]) == (200, "5")
    assert ticket.status == Status.FOLLOW_UP
    assert Comment.objects.get().status == Status.FOLLOW_UP
    line = HistoryEntry.objects.get()
    assert (line.by, line.was, line.now, line.public) == ("company", 6, 5, True)


def test_stores_a_courtesy_and_leaves_the_ticket_in_review(
    api: APIClient, company: Company
) -> None:
    ticket = build.ticket(company, status=6)

    answer = post(api, ticket, {"comment": "Thank you! 👍"})

    assert (answer["X-Ticket-Changed"], answer["X-Ticket-Status"]) == ("1", "6")
    assert ticket.status == Status.IN_REVIEW
    assert Comment.objects.get().text == "Thank you! 👍"
    line = HistoryEntry.objects.get()
    assert (line.was, line.now, line.public) == (6, 6, False)
    assert (line.kind, line.reason) == ("move_refused", "")
    assert line.data == {"to": 5, "why": "nothing_new"}


@pytest.mark.parametrize("status", sorted(TERMINAL))
@pytest.mark.parametrize("text", ["But look!", ""])
def test_refuses_a_comment_on_a_decided_ticket(
    api: APIClient, company: Company, status: Status, text: str
) -> None:
    ticket = build.ticket(company, status=status)
    before = Ticket.objects.values().get()

    answer = post(api, ticket, {"comment": text})

    assert answer.status_code == 422
    assert answer.json()["message"] == "The ticket is closed to comments."
    assert Ticket.objects.values().get() == before
    assert not Comment.objects.exists()
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize("body", [{}, {"comment": ""}, {"comment": " \n"}])
def test_answers_an_empty_comment_and_stores_nothing(
    api: APIClient, company: Company, body: dict[str, str]
) -> None:
    ticket = build.ticket(company, status=6)

    answer = post(api, ticket, body)

    assert (answer.status_code, answer.json()) == (200, {"data": True})
    assert (answer["X-Ticket-Changed"], answer["X-Ticket-Status"]) == ("0", "6")
    assert ticket.status == 6
    assert not Comment.objects.exists()
    assert not HistoryEntry.objects.exists()


@pytest.mark.parametrize("value", [None, 1, [], {}, True, "a\x00b", "\ud800", "x" * 65537])
def test_comment_that_is_no_text_is_refused(api: APIClient, company: Company, value: Any) -> None:
    ticket = build.ticket(company, status=6)
    body = json.dumps({"comment": value})

    answer = api.generic(
        "POST", f"/company/tickets/{ticket.pk}/comments", body, content_type="application/json"
    )

    assert answer.status_code == 400
    ticket.refresh_from_db()
    assert ticket.status == 6
    assert not Comment.objects.exists()


@pytest.mark.parametrize("text", ["😀", "\r\nX: 1", "'; DROP TABLE ticket;--", "<b>&amp;"])
def test_comment_is_read_back_unchanged(api: APIClient, company: Company, text: str) -> None:
    ticket = build.ticket(company)

    post(api, ticket, {"comment": text})

    (row,) = api.get(f"/company/tickets/comments/{ticket.pk}").json()["data"]
    assert row["description"] == text


def test_shows_public_comments_oldest_first_and_no_names(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=6)
    at = timezone.now().replace(2026, 3, 4, 5, 6, 7)
    for text, by, public in (
        ("first", "company", True),
        ("a note between agents", "agent", False),
        ("last", "agent", True),
    ):
        Comment.objects.create(
            ticket=ticket, text=text, by=by, actor="ada", public=public, status=6, created_at=at
        )

    rows = api.get(f"/company/tickets/comments/{ticket.pk}").json()["data"]

    assert [comment.pop("id") for comment in rows] == sorted(
        Comment.objects.filter(public=True).values_list("pk", flat=True)
    )
    same = {
        "status_id": 6,
        "status_name": "in_review",
        "created_at": "2026-03-04 05:06:07",
        "utc_created_at": "2026-03-04 05:06:07",
    }
    assert rows == [
        {"type": "client", "description": "first", "created_by_name": "Acme", **same},
        {"type": "admin", "description": "last", "created_by_name": "Support", **same},
    ]


def test_adds_one_comment_for_one_idempotency_key(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company)
    key = {"Idempotency-Key": "k"}

    for _ in range(2):
        api.post(f"/company/tickets/{ticket.pk}/comments", {"comment": "once"}, headers=key)

    assert Comment.objects.count() == 1
