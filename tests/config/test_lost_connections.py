"""The database drops the connection at each statement of a write in turn: 503, no rows."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import connection
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tickets.assignment import loads
from tickets.models import Comment, HistoryEntry, Ticket
from webhooks.models import Webhook

pytestmark = pytest.mark.usefixtures("rows_to_keep")

MORE_THAN_ANY_WRITE_NEEDS = 80
END = "SELECT pg_terminate_backend(pg_backend_pid())"

Ended = tuple[int, list[tuple[int, int, bool]]]


def rows() -> list[int]:
    return [model.objects.count() for model in (Ticket, Comment, HistoryEntry, Webhook)]


def end_each_statement(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], Any]) -> Ended:
    """Return how many statements ran, and answers other than 503 or rows left, by statement."""
    execute, remaining = psycopg.Cursor.execute, 0

    def execute_or_end(cursor: Any, *args: Any, **options: Any) -> Any:
        nonlocal remaining
        remaining -= 1
        return execute(cursor, END) if remaining == -1 else execute(cursor, *args, **options)

    other = []
    for at in range(MORE_THAN_ANY_WRITE_NEEDS):
        before, remaining = rows(), at
        with monkeypatch.context() as patched:
            patched.setattr(psycopg.Cursor, "execute", execute_or_end)
            answer = ask()
        if remaining >= 0:
            assert answer.status_code < 300
            return at, other
        connection.close()
        if answer.status_code != 503 or rows() != before:
            other.append((at, answer.status_code, rows() != before))
    raise AssertionError("more statements than any write needs")


def test_a_ticket_is_opened_whole_or_not_at_all(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.agent("ada")
    # Loads are summed after the commit, now and then: losing that leaves no trace.
    monkeypatch.setattr(loads, "SUM_UP_EVERY", 2**62)
    api.raise_request_exception = False

    ended, other = end_each_statement(
        monkeypatch, lambda: api.post("/company/tickets", {"type_id": 2})
    )

    assert (ended > 10, other) == (True, [])


def test_a_comment_is_stored_whole_or_not_at_all(
    api: APIClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/company/tickets/{build.ticket(company).pk}/comments"

    ended, other = end_each_statement(monkeypatch, lambda: api.post(address, {"comment": "Here."}))

    assert (ended > 3, other) == (True, [])


def test_a_webhook_is_registered_whole_or_not_at_all(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"url": "https://hooks.example.com/in"}

    ended, other = end_each_statement(monkeypatch, lambda: api.post("/webhooks", body))

    assert (ended > 3, other) == (True, [])
