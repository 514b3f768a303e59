import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from rest_framework.test import APIClient

from companies.models import Company
from tests import builders as build
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


def test_the_orm_is_no_way_around(line: HistoryEntry) -> None:
    line.reason = "nicer"
    for act in (line.save, line.delete):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()


def test_names_the_token_that_acted(api: APIClient, company: Company) -> None:
    ticket = build.ticket(company, status=6)

    api.put(f"/company/tickets/{ticket.pk}", {"ticket_status_id": 10})

    assert HistoryEntry.objects.get().actor == company.tokens.get().prefix
