"""Documents that agents request, and the effects of their arrival (decision N9)."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from companies.models import Company
from core.files.examining import Examined
from deliveries.models import Event
from tests import builders as build
from tests import files
from tests.files import as_json, send
from tickets.api import files as api_of_files
from tickets.changes.requested_documents import requested_documents_of
from tickets.changes.ticket_updated import TICKET_UPDATED
from tickets.models import Agent, HistoryEntry, RequestedDocument, Ticket
from tickets.statuses import Status

PNG = files.picture()


@pytest.fixture(autouse=True)
def kept_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_of_files, "examine_file", lambda content, *_: Examined(content, False))


@pytest.fixture
def ticket(company: Company, agent: Agent) -> Ticket:
    return build.ticket(company)


def ask(ticket: Ticket, *names: str, to: Status = Status.INCOMPLETE) -> None:
    call_command(
        "move_ticket", ticket.pk, to.value, agent="ada", request=list(names), stdout=StringIO()
    )


def progress(api: APIClient, ticket: Ticket) -> tuple[int, list[tuple[str, bool]]]:
    """Return the status, and the requested documents that the company sees."""
    row = api.get(f"/company/tickets/{ticket.pk}").json()["data"][0]
    documents = [(one["name"], one["fulfilled"]) for one in row["requested_documents"]]
    return row["ticket_status_id"], documents


def test_with_the_last_document_the_ticket_goes_back_to_an_agent(
    api: APIClient, ticket: Ticket
) -> None:
    ask(ticket, "Invoice", "Photo of the box")
    assert progress(api, ticket) == (
        4,
        [("Invoice", False), ("Photo of the box", False)],
    )
    photo = requested_documents_of(ticket)[1]

    assert send(api, ticket.pk, PNG, requested_document="Invoice")[0] == 200
    assert progress(api, ticket) == (
        4,
        [("Invoice", True), ("Photo of the box", False)],
    )
    assert send(api, ticket.pk, PNG, requested_document=photo["id"])[0] == 200

    assert progress(api, ticket) == (5, [("Invoice", True), ("Photo of the box", True)])
    last = HistoryEntry.objects.latest("pk")
    assert (last.by, last.was, last.now, last.data) == ("company", 4, 5, {"complete": True})
    files_shown = api.get(f"/company/evidences/{ticket.pk}").json()["data"]
    assert [file["requested_document"] for file in files_shown][1] == photo["id"]


def test_a_file_that_names_no_document_fulfils_none(api: APIClient, ticket: Ticket) -> None:
    ask(ticket, "Invoice")

    for name in ("invoice", "Invoice ", 999_999, "0"):
        assert send(api, ticket.pk, PNG, requested_document=name)[0] == 400
    assert send(api, ticket.pk, PNG, "Invoice.png")[0] == 200

    assert progress(api, ticket) == (4, [("Invoice", False)])


def test_a_document_of_another_ticket_is_none(
    api: APIClient, ticket: Ticket, company: Company
) -> None:
    ask(ticket, "Invoice")
    (document,) = requested_documents_of(ticket)
    other = build.ticket(company)

    assert send(api, other.pk, PNG, requested_document=document["id"])[0] == 400
    assert progress(api, ticket) == (4, [("Invoice", False)])


def test_fulfilled_document_may_be_requested_again(api: APIClient, ticket: Ticket) -> None:
    ask(ticket, "Invoice")
    send(api, ticket.pk, PNG, requested_document="Invoice")
    ask(ticket, "Invoice")

    assert progress(api, ticket) == (4, [("Invoice", True), ("Invoice", False)])
    send(api, ticket.pk, PNG, requested_document="Invoice")
    assert progress(api, ticket) == (5, [("Invoice", True), ("Invoice", True)])


def test_a_ticket_that_waits_for_nobody_stays_where_it_is(api: APIClient, ticket: Ticket) -> None:
    ask(ticket, "Invoice")
    api.put(f"/company/tickets/{ticket.pk}", {"ticket_status_id": 1})

    send(api, ticket.pk, PNG, requested_document="Invoice")

    assert progress(api, ticket) == (1, [("Invoice", True)])


def test_evidence_that_is_attached_fulfils_a_document_too(api: APIClient, ticket: Ticket) -> None:
    ask(ticket, "Invoice")
    evidence_id: Any = api.post("/company/upload/evidences", as_json(PNG)).json()["data"]["id"]
    unknown = api.post("/company/upload/evidences", as_json(PNG, requested_document="Invoice"))
    assert unknown.status_code == 400

    attach = f"/company/attach/evidences/{ticket.pk}"
    body = {"files": [evidence_id], "requested_document": "Invoice"}
    assert api.put(attach, body).status_code == 200

    assert progress(api, ticket) == (5, [("Invoice", True)])


def test_command_refuses_invalid_document_names(ticket: Ticket) -> None:
    for names, to, message in (
        (["x" * 201], Status.INCOMPLETE, "200 characters"),
        ([str(number) for number in range(31)], Status.INCOMPLETE, "At most 30"),
        (["Invoice"], Status.ACCEPTED, "4 Incomplete only"),
    ):
        with pytest.raises(CommandError, match=message):
            ask(ticket, *names, to=to)
    assert not RequestedDocument.objects.exists()
    assert not HistoryEntry.objects.exists()


def test_the_company_is_told_once_what_is_asked_for_and_that_it_has_come(
    api: APIClient, ticket: Ticket, company: Company
) -> None:
    build.webhook(company, TICKET_UPDATED.id)
    ask(ticket, "Invoice", "Photo")
    send(api, ticket.pk, PNG, requested_document="Photo")
    send(api, ticket.pk, PNG, requested_document="Invoice")

    bodies = [json.loads(bytes(event.body))["data"] for event in Event.objects.order_by("pk")]

    assert [(one["change"], one["ticket_status_id"], one["by"]) for one in bodies] == [
        ("moved", 4, "agent"),
        ("moved", 5, "company"),
    ]
    assert [[each["fulfilled"] for each in one["requested_documents"]] for one in bodies] == [
        [False, False],
        [True, True],
    ]
