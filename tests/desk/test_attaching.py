"""Agents attach files, look at PDFs page by page, and see which documents are missing."""

import hashlib
from io import BytesIO
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from PIL import Image
from rest_framework.test import APIClient

from companies.models import Company
from core.files import storage
from tests import builders as build
from tests import files
from tests.desk.forms import token
from tests.tickets.test_detail import ticket_data
from tickets.models import (
    Agent,
    Comment,
    Document,
    HistoryEntry,
    RequestedDocument,
    RequiredDocument,
    Ticket,
    TicketFile,
    UnfinishedFile,
)
from tickets.statuses import Status

LIST = "/admin/tickets/ticket/"
PHOTO = files.photo()


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company, type_id=5, status=Status.IN_REVIEW, carrier_name="Swift")


def page(desk: Client, ticket: Ticket) -> str:
    return desk.get(f"{LIST}{ticket.pk}/change/").content.decode()


def write(
    desk: Client, ticket: Ticket, *contents: bytes, button: str = "reply", **more: Any
) -> HttpResponse:
    uploads = [SimpleUploadedFile(f"../ letter {n}.exe", one) for n, one in enumerate(contents)]
    form = {button: "1", "files": uploads, "seen": token(ticket), **more}
    return desk.post(f"{LIST}{ticket.pk}/write/", form)


def stored_now() -> int:
    return sum(len(names) for _, names in map(default_storage.listdir, folders()))


def folders() -> list[str]:
    if not default_storage.exists("files"):
        return []
    return [f"files/{one}" for one in default_storage.listdir("files")[0]]


def test_file_of_a_reply_is_visible_to_the_company(
    desk: Client, api: APIClient, ticket: Ticket
) -> None:
    assert write(desk, ticket, PHOTO, text="See the photo.").status_code == 302

    (row,) = ticket_data(api, ticket.pk)["files"]
    assert row["name"] == "letter 0.exe.jpg"
    assert api.get(row["url"].removeprefix("http://testserver")).status_code == 200
    (comment,) = Comment.objects.all()
    assert comment.text == "See the photo.\nAttached:\n- letter 0.exe.jpg"
    file = TicketFile.objects.get()
    assert (file.by, file.actor, file.public) == ("agent", "ada", True)
    # Re-encoded like files of companies, so that its location is gone.
    content = storage.read_file(file.stored_as)
    assert files.WHERE_IT_WAS.encode() not in content
    entry = HistoryEntry.objects.get(kind="file_added")
    assert (entry.by, entry.data["sha256"]) == ("agent", hashlib.sha256(content).hexdigest())
    assert "sent to the company" in page(desk, ticket)


def test_file_of_a_note_is_internal(desk: Client, api: APIClient, ticket: Ticket) -> None:
    write(desk, ticket, files.pdf(), button="note")

    row = ticket_data(api, ticket.pk)
    assert (row["files"], row["file_quantity"], row["last_comment"]) == ([], 0, None)
    assert api.get(f"/company/evidences/{ticket.pk}").json()["data"] == []
    file = TicketFile.objects.get()
    attached = api.put(f"/company/attach/evidences/{ticket.pk}", {"files": [file.pk]})
    assert attached.status_code == 400
    assert "agents only" in page(desk, ticket)


def test_files_come_with_a_decision_and_on_a_decided_ticket(
    desk: Client, api: APIClient, ticket: Ticket
) -> None:
    write(desk, ticket, files.pdf(), text="Paid.", to="2", code="other")
    write(desk, ticket, files.pdf(), button="note")

    assert [one.public for one in TicketFile.objects.order_by("pk")] == [True, False]
    assert ticket_data(api, ticket.pk)["last_comment"]["comment_text"] == (
        "Paid.\nAttached:\n- letter 0.exe.pdf"
    )


@pytest.mark.parametrize(
    ("contents", "more", "says"),
    [
        ([PHOTO, files.HTML], {}, "letter 1.exe: This is a web page. Send a JPEG,"),
        ([files.ZIP, PHOTO, files.SVG], {}, "letter 0.exe: This is a ZIP archive."),
        ([files.ZIP, PHOTO, files.SVG], {}, "letter 2.exe: This is an SVG drawing."),
        ([PHOTO[:200]], {}, "cannot be opened"),
        ([PHOTO], {"seen": ""}, "The page was out of date."),
        ([PHOTO] * 6, {}, "Attach at most 5 files at a time."),
    ],
)
def test_refused_file_keeps_the_text_and_stores_nothing(
    desk: Client, ticket: Ticket, contents: list[bytes], more: dict[str, str], says: str
) -> None:
    before = stored_now()

    answer = write(desk, ticket, *contents, text="My words.", **more)

    html = answer.content.decode()
    assert (says in html, "My words." in html) == (True, True)
    assert answer.status_code in (400, 409)
    for model in (Comment, TicketFile, HistoryEntry, UnfinishedFile):
        assert not model.objects.exists()
    assert stored_now() == before


def test_agents_too_add_fifty_files_at_most(desk: Client, ticket: Ticket) -> None:
    for _ in range(50):
        build.file(ticket.company, ticket=ticket)

    assert "at most 50 files" in write(desk, ticket, PHOTO).content.decode()
    assert TicketFile.objects.count() == 50


def picture_of(desk: Client, ticket: Ticket, file: TicketFile, number: int) -> HttpResponse:
    return desk.get(f"{LIST}{ticket.pk}/files/{file.pk}/page/{number}/")


def test_a_pdf_is_shown_page_by_page_as_pictures(desk: Client, ticket: Ticket) -> None:
    write(desk, ticket, files.pdf(2))
    file = TicketFile.objects.get()

    answer = picture_of(desk, ticket, file, 2)

    assert (answer["Content-Type"], answer["X-Page-Count"]) == ("image/jpeg", "2")
    assert "sandbox" in answer["Content-Security-Policy"]
    assert max(Image.open(BytesIO(answer.content)).size) == 1600
    assert [picture_of(desk, ticket, file, number).status_code for number in (0, 3)] == [404, 404]
    html = page(desk, ticket)
    assert f'data-pages="{LIST}{ticket.pk}/files/{file.pk}/page/1/"' in html
    assert 'id="viewer"' in html


def test_a_picture_has_no_pages(desk: Client, ticket: Ticket) -> None:
    file = build.file(ticket.company, ticket=ticket)

    assert picture_of(desk, ticket, file, 1).status_code == 404


@pytest.fixture
def required(db: None) -> None:
    for type_id, carrier, name in (
        (None, "", "Invoice"),
        (5, "", "Photo of the box"),
        (5, "SWIFT", "Swift's form"),
        (5, "Other", "Another's form"),
        (4, "", "Declaration of loss"),
    ):
        RequiredDocument.objects.create(type_id=type_id, carrier_name=carrier, name=name)


def states(desk: Client, ticket: Ticket) -> dict[str, str]:
    html = page(desk, ticket).partition("<h2>Required documents</h2>")[2].partition("</ul>")[0]
    states = {}
    for part in html.split("<li")[1:]:
        name = part.partition("<bdi>")[2].partition("</bdi>")[0].replace("&#x27;", "'")
        states[name] = next(one for one in ("received", "waiting", "missing") if one in part)
    return states


@pytest.mark.usefixtures("required")
def test_shows_which_required_documents_have_arrived(
    desk: Client, ticket: Ticket, agent: Agent
) -> None:
    names = ["Invoice", "Photo of the box", "Swift's form"]
    assert states(desk, ticket) == dict.fromkeys(names, "missing")

    now = timezone.now()
    Document.objects.create(ticket=ticket, position=0, field_id="1", key="invoice", value="x")
    request = RequestedDocument.objects.create(
        ticket=ticket, name="photo of the box", created_at=now
    )
    assert list(states(desk, ticket).values()) == ["received", "waiting", "missing"]

    request.fulfilled_at = now
    request.save()
    assert list(states(desk, ticket).values()) == ["received", "received", "missing"]


@pytest.mark.usefixtures("required")
@pytest.mark.parametrize("status", [Status.IN_REVIEW, Status.INCOMPLETE])
def test_requests_all_missing_documents_in_one_act(
    desk: Client, ticket: Ticket, status: Status
) -> None:
    Ticket.objects.update(status=status)
    form = page(desk, ticket).partition('class="desk-ask-missing"')[2].partition("</form>")[0]
    fields = [part.split('"') for part in form.split('type="hidden" name="')[1:]]
    lists: dict[str, list[str]] = {}
    for name, _, value, *_ in fields:
        lists.setdefault(name, []).append(value.replace("&#x27;", "'"))
    address = form.partition('action="')[2].partition('"')[0]

    assert desk.post(address, lists).status_code == 302

    ticket.refresh_from_db()
    assert ticket.status == Status.INCOMPLETE
    assert set(states(desk, ticket).values()) == {"waiting"}
    assert Comment.objects.get().text.startswith("Please send:\n- Invoice\n")
    assert "desk-ask-missing" not in page(desk, ticket)


def test_no_documents_are_requested_for_a_decided_ticket(desk: Client, ticket: Ticket) -> None:
    RequiredDocument.objects.create(name="Invoice")
    Ticket.objects.update(status=Status.ACCEPTED)

    assert states(desk, ticket) == {"Invoice": "missing"}
    assert "desk-ask-missing" not in page(desk, ticket)


def test_leads_add_a_required_document_once(desk: Client) -> None:
    add = "/admin/tickets/requireddocument/add/"
    assert desk.get(add).status_code == 403
    lead = Client()
    lead.force_login(build.agent("eve", group="lead").user)

    assert lead.post(add, {"name": " The  invoice ", "type": "5"}).status_code == 302
    again = lead.post(add, {"name": "the invoice", "type": "5"})

    assert "This document is required already." in again.content.decode()
    assert RequiredDocument.objects.get().name == "The invoice"
