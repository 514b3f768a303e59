"""Files that a company sends to its tickets, uploaded and read through the API (decision N8)."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from PIL import Image
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.files.examining import Examined
from tests import builders as build
from tests import files
from tests.files import as_json, form, form_part, send, send_form
from tickets.api import files as api_of_files
from tickets.api import serving
from tickets.changes import files as changes
from tickets.models import HistoryEntry, Ticket, TicketFile, UnfinishedFile
from tickets.statuses import TERMINAL, Status

PNG = files.picture()


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


@pytest.fixture
def disk(settings: Settings, tmp_path: Path) -> Path:
    """Use a storage in a folder whose contents the test can check."""
    backend = "django.core.files.storage.FileSystemStorage"
    own = {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": own}
    return tmp_path


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the examination where the content does not matter: files are stored as they are."""
    monkeypatch.setattr(api_of_files, "examine_file", lambda content, *_: Examined(content, False))


def stored(disk: Path) -> list[Path]:
    return [path for path in disk.rglob("*") if path.is_file()]


def rows(api: APIClient, ticket: Ticket) -> dict[str, Any]:
    return api.get(f"/company/tickets/{ticket.pk}").json()["data"][0]


def left_nothing(disk: Path) -> bool:
    is_empty = not TicketFile.objects.exists() and not UnfinishedFile.objects.exists()
    return is_empty and not stored(disk) and not HistoryEntry.objects.exists()


def test_a_file_is_kept_shown_with_its_ticket_and_read_at_its_address(
    api: APIClient, ticket: Ticket, disk: Path
) -> None:
    status, answer = send(api, ticket.pk, PNG, "the box.png", description="As it arrived.")

    assert (status, answer["success"], answer["data"]["name"]) == (200, True, "the box.png")
    (path,) = stored(disk)
    assert "box" not in str(path.relative_to(disk))
    row = rows(api, ticket)
    assert row["file_quantity"] == 1
    (file,) = row["files"]
    assert file["id"] == answer["data"]["id"]
    assert (file["content_type"], file["size"]) == ("image/png", path.stat().st_size)
    assert (file["description"], file["requested_document"]) == ("As it arrived.", None)
    assert file["file_url"] == file["url"]
    read = Client().get(file["url"])
    assert read.content == path.read_bytes()
    entry = HistoryEntry.objects.get(kind="file_added")
    assert (entry.by, entry.public, entry.data["name"]) == ("company", False, "the box.png")


@pytest.mark.usefixtures("trusted")
def test_an_address_shows_a_picture_saves_a_pdf_and_runs_nothing(
    api: APIClient, ticket: Ticket
) -> None:
    for content, kind, name, disposition in (
        (PNG, "image/png", "a;b.png", "inline"),
        (files.pdf(), "application/pdf", "año.pdf", "attachment"),
    ):
        url = send(api, ticket.pk, content, name)[1]["data"]["url"]

        answer = Client().get(url)

        assert url.startswith("http://testserver/files/")
        assert answer["Content-Type"] == kind
        assert answer["Content-Disposition"].split(";")[0] == disposition
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
        assert "no-store" in answer["Cache-Control"]
        assert answer["Referrer-Policy"] == "no-referrer"


@pytest.mark.usefixtures("trusted")
def test_an_address_lives_an_hour_and_cannot_be_made_up(
    api: APIClient, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = send(api, ticket.pk, PNG)[1]["data"]["url"]
    file = TicketFile.objects.get()

    assert Client().get(url[:-1] + "_").status_code == 404
    assert Client().get(f"/files/{file.pk}").status_code == 404
    assert Client().post(url).status_code == 404
    monkeypatch.setattr(serving, "LIFETIME_SECONDS", -1)
    assert Client().get(url).status_code == 404
    assert Client().get(url).json()["message"] == "Not found."


@pytest.mark.usefixtures("trusted")
def test_multipart_form_is_accepted_like_json(
    api: APIClient, ticket: Ticket, company: Company
) -> None:
    fields = {"description": "Front", "company_id": str(company.pk), "content_type": "text/html"}
    upload = BytesIO(PNG)
    upload.name = "front.png"

    answer = api.post(
        f"/company/tickets/{ticket.pk}/files", {"file": upload, **fields}, format="multipart"
    )

    assert answer.status_code == 200, answer.json()
    file = TicketFile.objects.get()
    assert (file.name, file.description, file.size) == ("front.png", "Front", len(PNG))
    assert default_storage.open(file.stored_as).read() == PNG


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../../etc/passwd", "passwd.png"),
        ("C:\\Users\\me\\box.png", "box.png"),
        ("box.jpg", "box.jpg.png"),
        ("invoice\u202egnp.exe", "invoicegnp.exe.png"),
        ("a\r\nSet-Cookie: x=1.png", "a Set-Cookie_ x=1.png"),
        ("\u200b\u2060.png", "file.png"),
        ("...", "file.png"),
        ("x" * 300 + ".PNG", "x" * 146 + ".PNG"),
        ("año \u00e9.png", "año é.png"),
    ],
)
@pytest.mark.usefixtures("trusted")
def test_file_names_are_sanitized(
    api: APIClient, ticket: Ticket, name: str, expected: str, disk: Path
) -> None:
    status, answer = send(api, ticket.pk, PNG, name)

    assert (status, answer["data"]["name"]) == (200, expected)
    (path,) = stored(disk)
    assert path.parent.parent.parent == disk
    disposition = Client().get(answer["data"]["url"])["Content-Disposition"]
    assert disposition.isprintable()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (as_json(PNG, ""), "name"),
        (as_json(PNG, "x" * 1001), "name"),
        ({"name": "a.png"}, "content_base64"),
        ({"name": "a.png", "content_base64": "not base64!"}, "content_base64"),
        ({"name": "a.png", "content_base64": "QUJ"}, "content_base64"),
        ({"name": "a.png", "content_base64": "data:image/png;base64,QUJD"}, "content_base64"),
        ({"name": "a.png", "content_base64": "año"}, "content_base64"),
        ({"name": "a.png", "content_base64": 7}, "content_base64"),
        (as_json(PNG, requested_document="Invoice"), "requested_document"),
        (as_json(PNG, requested_document=True), "requested_document"),
        (as_json(PNG, company_id=999_999), "company_id"),
        (as_json(PNG, path="/etc"), "path"),
    ],
)
def test_invalid_body_names_its_field_and_stores_nothing(
    api: APIClient, ticket: Ticket, disk: Path, body: dict[str, Any], field: str
) -> None:
    answer = api.post(f"/company/tickets/{ticket.pk}/files", body)

    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert left_nothing(disk)


@pytest.mark.usefixtures("trusted")
def test_base64_may_have_line_breaks(api: APIClient, ticket: Ticket) -> None:
    text = as_json(PNG)["content_base64"]
    broken = "\r\n".join(text[at : at + 20] for at in range(0, len(text), 20))

    body = {"name": "a.png", "content_base64": f" {broken}\n"}
    assert api.post(f"/company/tickets/{ticket.pk}/files", body).status_code == 200
    assert TicketFile.objects.get().size == len(PNG)


FILE = form_part("file", PNG, "a.png")


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        (form(FILE, FILE), "x"),
        (form(form_part("description", b"no file")), "x"),
        (form(), "x"),
        (b"", "x"),
        (form(form_part("file", PNG)), "x"),
        (form(form_part("file", PNG, "")), "x"),
        (form(FILE, form_part("photo", PNG, "b.png")), "x"),
        (form(FILE, form_part("colour", b"red")), "x"),
        (form(FILE, form_part("description", b"a"), form_part("description", b"b")), "x"),
        (form(FILE, form_part("company_id", b"999999")), "x"),
        (form(FILE, form_part("description", b"a\x00b")), "x"),
        (form(FILE), "another"),
        (form(FILE), "b" * 300),
        (form(FILE), '"'),
        (b"--x\r\n" + b"X-Long: " + b"a" * 70_000 + b"\r\n\r\n" + PNG + b"\r\n--x--\r\n", "x"),
        (form(*(form_part(str(number), b"1") for number in range(1_100))), "x"),
        (form(*(form_part("file", b"1", "a") for number in range(200))), "x"),
    ],
)
def test_malformed_form_is_refused_and_stores_nothing(
    api: APIClient, ticket: Ticket, disk: Path, body: bytes, boundary: str
) -> None:
    answer = send_form(api, f"/company/tickets/{ticket.pk}/files", body, boundary)

    assert (answer.status_code, answer.json()["statusCode"]) == (400, 400)
    assert left_nothing(disk)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_and_forms_are_read(api: APIClient, ticket: Ticket, kind: str) -> None:
    answer = api.generic("POST", f"/company/tickets/{ticket.pk}/files", b"a", content_type=kind)

    assert answer.status_code == 415


def test_ticket_of_another_company_is_not_found(
    birch_api: APIClient, ticket: Ticket, disk: Path
) -> None:
    assert send(birch_api, ticket.pk, PNG)[0] == 404
    assert birch_api.get(f"/company/evidences/{ticket.pk}").status_code == 404
    attach = f"/company/attach/evidences/{ticket.pk}"
    assert birch_api.put(attach, {"files": [1]}).status_code == 404
    assert left_nothing(disk)


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_a_decided_ticket_takes_no_files(
    api: APIClient, company: Company, status: Status, disk: Path
) -> None:
    ticket = build.ticket(company, status=status)

    answered, body = send(api, ticket.pk, PNG)

    assert (answered, body["code"]) == (422, "ticket_closed")
    assert left_nothing(disk)


@pytest.mark.usefixtures("trusted")
def test_number_of_files_is_bounded(
    api: APIClient, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_PER_TICKET", 2)

    answers = [send(api, ticket.pk, PNG) for _ in range(3)]

    assert [status for status, _ in answers] == [200, 200, 422]
    assert answers[2][1]["code"] == "too_many_files"
    assert rows(api, ticket)["file_quantity"] == 2


@pytest.mark.usefixtures("trusted")
def test_late_refusal_leaves_nothing_in_the_storage(
    api: APIClient, ticket: Ticket, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decide the ticket while the file is read, or let saving the row fail."""
    monkeypatch.setattr(changes, "refuse_early", lambda *_: None)
    Ticket.objects.update(status=Status.ACCEPTED)
    assert send(api, ticket.pk, PNG)[0] == 422
    assert left_nothing(disk)

    Ticket.objects.update(status=Status.PENDING)
    monkeypatch.setattr(changes, "record_history", lambda *_, **__: 1 / 0)
    assert send(api, ticket.pk, PNG)[0] == 500
    assert left_nothing(disk)


@pytest.mark.usefixtures("trusted")
def test_a_repeat_with_the_same_key_is_one_file(api: APIClient, ticket: Ticket, disk: Path) -> None:
    path = f"/company/tickets/{ticket.pk}/files"

    def as_form(boundary: str, content: bytes = PNG) -> Any:
        body = form(form_part("file", content, "a.png"), boundary=boundary)
        return send_form(api, path, body, boundary, **{"Idempotency-Key": "one"})

    first, again = as_form("first-boundary"), as_form("another-boundary")

    assert first.status_code == 200
    assert again.json() == first.json()
    assert as_form("x", files.pdf()).status_code == 422
    Ticket.objects.update(status=Status.ACCEPTED)
    assert as_form("x").json() == first.json()
    assert (TicketFile.objects.count(), len(stored(disk))) == (1, 1)
    assert not UnfinishedFile.objects.exists()


def test_internal_files_are_in_no_list(api: APIClient, company: Company, ticket: Ticket) -> None:
    public_file = build.file(company, ticket=ticket)
    build.file(company, ticket=ticket, public=False, by="agent", actor="ada")

    (listed,) = api.get("/company/tickets").json()["data"]
    evidence = api.get(f"/company/evidences/{ticket.pk}").json()["data"]

    for names in (listed["files"], rows(api, ticket)["files"], evidence):
        assert [file["id"] for file in names] == [public_file.pk]
    assert listed["file_quantity"] == 1


@pytest.mark.usefixtures("trusted")
def test_lists_show_files_in_as_many_queries_for_many_tickets_as_for_one(
    api: APIClient, company: Company, django_assert_max_num_queries: Any
) -> None:
    for number in range(4):
        ticket = build.ticket(company)
        for _ in range(number):
            send(api, ticket.pk, PNG)

    with django_assert_max_num_queries(10):
        rows = api.get("/company/tickets").json()["data"]

    assert [row["file_quantity"] for row in rows] == [3, 2, 1, 0]


@pytest.mark.usefixtures("trusted")
def test_evidence_is_uploaded_first_and_attached_later(
    api: APIClient, ticket: Ticket, birch_api: APIClient
) -> None:
    ids = [
        api.post("/company/upload/evidences", as_json(PNG, name)).json()["data"]["id"]
        for name in ("a.png", "b.png")
    ]
    foreign = birch_api.post("/company/upload/evidences", as_json(PNG)).json()["data"]["id"]
    attach = f"/company/attach/evidences/{ticket.pk}"

    refused = api.put(attach, {"files": [ids[0], foreign]})
    assert (refused.status_code, rows(api, ticket)["files"]) == (400, [])
    answer = api.put(attach, {"files": ids[::-1]})

    assert [file["id"] for file in answer.json()["data"]] == ids[::-1]
    assert api.put(attach, {"files": ids}).status_code == 200
    evidences = api.get(f"/company/evidences/{ticket.pk}").json()
    assert evidences["success"]
    assert [file["name"] for file in evidences["data"]] == ["a.png", "b.png"]
    other = build.ticket(ticket.company)
    stolen = api.put(f"/company/attach/evidences/{other.pk}", {"files": ids})
    assert stolen.status_code == 400
    assert rows(api, ticket)["file_quantity"] == 2


@pytest.mark.usefixtures("trusted")
def test_few_files_wait_to_be_attached(
    api: APIClient, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    monkeypatch.setattr(changes, "MOST_UNATTACHED", 1)
    answers = [api.post("/company/upload/evidences", as_json(PNG)) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 422]
    assert answers[1].json()["code"] == "too_many_files"


def test_picture_is_reencoded_upright_without_metadata(
    api: APIClient, ticket: Ticket, disk: Path
) -> None:
    tail = b"<?php system($_GET['x']); ?><html><script>alert(1)</script>"

    assert send(api, ticket.pk, files.photo() + tail, "photo.jpg")[0] == 200

    (path,) = stored(disk)
    content = path.read_bytes()
    for hidden in (tail, b"<?php", files.WHERE_IT_WAS.encode(), b"Exif", b"made by a stranger"):
        assert hidden not in content
    picture = Image.open(BytesIO(content))
    assert (picture.size, dict(picture.getexif())) == ((4, 6), {})


def test_several_files_attached_at_once_do_not_pass_the_limit(
    api: APIClient, company: Company, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_PER_TICKET", 2)
    build.file(company, ticket=ticket)
    waiting = [build.file(company).pk for _ in range(2)]

    answer = api.put(f"/company/attach/evidences/{ticket.pk}", {"files": waiting})

    assert (answer.status_code, answer.json()["code"]) == (422, "too_many_files")
    assert ticket.files.count() == 1
    answer = api.put(f"/company/attach/evidences/{ticket.pk}", {"files": waiting[:1]})
    assert answer.status_code == 200
    assert ticket.files.count() == 2
