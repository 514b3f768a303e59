"""Files at the desk: on the ticket's page, when opened, and in the evidence."""

import hashlib
import json

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from companies.models import Company
from core.files import storage
from tests import builders as build
from tests import files
from tests.desk.test_claim_file import unpacked
from tickets.models import HistoryEntry, RequestedDocument, Ticket, TicketFile

LIST = "/admin/tickets/ticket/"


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


@pytest.fixture
def file(ticket: Ticket) -> TicketFile:
    """Create a picture that fulfils a requested document."""
    now, content = timezone.now(), files.picture()
    request = RequestedDocument.objects.create(ticket=ticket, name="Photo", created_at=now)
    return build.file(
        ticket.company,
        ticket=ticket,
        requested_document=request,
        name="<b>box</b>.png",
        description="As it arrived.",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        stored_as=storage.write_file(storage.new_file_name(), content),
        thumbnail=storage.write_file(storage.new_file_name(), files.picture("JPEG")),
    )


def page(desk: Client, ticket: Ticket) -> str:
    return desk.get(f"{LIST}{ticket.pk}/change/").content.decode()


def test_a_ticket_s_page_shows_its_files(desk: Client, ticket: Ticket, file: TicketFile) -> None:
    html = page(desk, ticket)

    assert f"{LIST}{ticket.pk}/files/{file.pk}/file/" in html
    assert f"{LIST}{ticket.pk}/files/{file.pk}/thumbnail/" in html
    assert "&lt;b&gt;box&lt;/b&gt;.png" in html
    assert "<b>box" not in html
    for text in ("PNG, ", "As it arrived.", "✓ "):
        assert text in html
    assert "Contains scripts" not in html

    TicketFile.objects.update(active=True, thumbnail=None, media_type="application/pdf")
    html = page(desk, ticket)
    assert "Contains scripts" in html
    assert "thumbnail/" not in html


def test_opened_file_cannot_run_scripts(desk: Client, ticket: Ticket, file: TicketFile) -> None:
    for name, kind in (("file", "image/png"), ("thumbnail", "image/jpeg")):
        answer = desk.get(f"{LIST}{ticket.pk}/files/{file.pk}/{name}/")

        assert (answer.status_code, answer["Content-Type"]) == (200, kind)
        assert answer["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_file_is_found_under_its_own_ticket_and_by_agents_alone(
    desk: Client, ticket: Ticket, file: TicketFile
) -> None:
    other = build.ticket(ticket.company)
    address = f"{LIST}{ticket.pk}/files/{file.pk}/file/"

    assert desk.get(f"{LIST}{other.pk}/files/{file.pk}/file/").status_code == 404
    assert Client().get(address).status_code == 302
    default_storage.delete(file.stored_as)
    assert desk.get(address).status_code == 404


def test_the_thread_tells_of_a_file(desk: Client, ticket: Ticket) -> None:
    HistoryEntry.objects.create(
        ticket=ticket,
        by="company",
        actor="test_abc",
        was=1,
        now=1,
        kind="file_added",
        data={"file": 1, "name": "box.png", "sha256": "", "document": "Photo"},
        public=False,
        created_at=timezone.now(),
    )

    html = page(desk, ticket)

    assert html.count("The company added a file: box.png.") == 2
    assert "For the requested document: Photo" in html


def test_the_evidence_holds_the_files_by_names_of_our_own(
    desk: Client, ticket: Ticket, file: TicketFile, settings: Settings
) -> None:
    lost = build.file(ticket.company, ticket=ticket)

    archive = unpacked(desk.post(f"{LIST}{ticket.pk}/evidence/"))

    record, manifest = json.loads(archive["evidence.json"]), json.loads(archive["manifest.json"])
    assert archive[f"files/{file.pk}.png"] == files.picture()
    assert b"&lt;b&gt;box" in archive["index.html"]
    assert manifest["sha256"][f"files/{file.pk}.png"] == file.sha256
    assert [one["file"] for one in record["files"]] == [f"files/{file.pk}.png", None]
    assert (record["files"][0]["name"], record["files"][0]["requested_document"]) == (
        "<b>box</b>.png",
        "Photo",
    )
    assert record["files"][1]["sha256"] == lost.sha256
    assert not record["complete"]
