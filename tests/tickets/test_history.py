import ast
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
from tests.test_architecture import LINE
from tickets.models import HistoryEntry


@pytest.fixture
def line(api: APIClient) -> HistoryEntry:
    api.post("/company/tickets", {"type_id": 2})
    return HistoryEntry.objects.earliest("pk")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tickets_historyentry SET reason = 'nicer'",
        "UPDATE tickets_historyentry SET reason = reason",
        "DELETE FROM tickets_historyentry",
        "DELETE FROM tickets_historyentry WHERE id = (SELECT min(id) FROM tickets_historyentry)",
    ],
)
def test_the_database_refuses_to_change_what_happened(line: HistoryEntry, statement: str) -> None:
    before = list(HistoryEntry.objects.values())

    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)

    assert list(HistoryEntry.objects.values()) == before


@pytest.mark.parametrize("tables", ["tickets_historyentry", "tickets_ticket CASCADE"])
def test_the_database_refuses_to_empty_it(line: HistoryEntry, tables: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        # Check foreign keys now, as after a commit: no check is left for later.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            cursor.execute(f"TRUNCATE {tables}")

    assert HistoryEntry.objects.exists()


def test_the_orm_is_no_way_around(line: HistoryEntry) -> None:
    line.reason = "nicer"
    for act in (line.save, line.delete):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()


WAYS = ("create", "bulk_create", "get_or_create", "update_or_create")


def makes_entries(called_name: str) -> bool:
    """Return True if a call of this name creates history entries."""
    manager, _, method = called_name.rpartition(".")
    return called_name == "HistoryEntry" or (
        method in WAYS and manager.endswith((".history", "HistoryEntry.objects"))
    )


def written_at(source: str) -> list[int]:
    """Return the lines that create history entries."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and makes_entries(ast.unparse(node.func))
    ]


def test_entries_are_written_in_one_place() -> None:
    root = Path(__file__).resolve().parent.parent.parent
    places = [
        path.relative_to(root).as_posix()
        for app in LINE
        for path in (root / app).rglob("*.py")
        if written_at(path.read_text())
    ]

    assert places == ["tickets/changes/history.py"]
    assert written_at("HistoryEntry.objects.bulk_create([HistoryEntry()])") == [1, 1]
    assert written_at("ticket.history.create(now=1)") == [1]


def test_names_the_token_that_acted(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=6)

    api.put(f"/company/tickets/{ticket.pk}", {"ticket_status_id": 10})

    assert HistoryEntry.objects.get().actor == company.tokens.get().prefix
