"""Hostile uploads: refused with a clear message, stored nowhere, and harmless to everybody."""

import logging
import time
from io import BytesIO
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
from django.core.files.storage import default_storage
from django.test import RequestFactory
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from config.door.allowances import body_allowance
from core.files import examining, kinds
from core.files.refusals import FileRefused
from tests import builders as build
from tests import files
from tests.files import as_json, send
from tickets.models import HistoryEntry, Ticket, TicketFile, UnfinishedFile

JPEG = files.photo()


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


def refused(api: APIClient, ticket: Ticket, content: bytes, name: str = "a.png") -> tuple[int, str]:
    """Return status and code, after checking that nothing was stored."""
    status, answer = send(api, ticket.pk, content, name)
    assert not TicketFile.objects.exists()
    assert not UnfinishedFile.objects.exists()
    assert not HistoryEntry.objects.exists()
    assert answer["message"]
    return status, answer["code"]


@pytest.mark.parametrize(
    "content",
    [
        files.SVG,
        files.HTML,
        files.ZIP,
        files.EXE,
        files.picture("GIF"),
        files.picture("BMP"),
        files.HTML + files.pdf(),
        b"<?php phpinfo();",
        b"just words",
        b"\x00" * 50,
    ],
)
def test_type_is_recognized_by_content_not_by_name(
    api: APIClient, ticket: Ticket, content: bytes
) -> None:
    for name in ("a.png", "a.pdf"):
        assert refused(api, ticket, content, name) == (415, "file_type_not_allowed")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "file_empty"),
        (files.bomb(), "file_too_complex"),
        (files.bomb(9, 9), "file_unreadable"),
        (JPEG[: len(JPEG) // 2], "file_unreadable"),
        (b"\xff\xd8\xff\xe0" + files.HTML, "file_unreadable"),
        (files.pdf()[:-300], "file_unreadable"),
        (b"%PDF-1.7\n" + files.HTML + b"\n%%EOF", "file_unreadable"),
    ],
    ids=["empty", "bomb", "short PNG", "short JPEG", "HTML as JPEG", "short PDF", "HTML as PDF"],
)
def test_damaged_file_is_refused(api: APIClient, ticket: Ticket, content: bytes, code: str) -> None:
    assert refused(api, ticket, content) == (422, code)


def test_a_pdf_with_scripts_is_kept_as_it_is_and_marked(api: APIClient, ticket: Ticket) -> None:
    assert send(api, ticket.pk, files.SCRIPTED_PDF, "form.pdf")[0] == 200

    file = TicketFile.objects.get()
    assert file.active
    assert default_storage.open(file.stored_as).read() == files.SCRIPTED_PDF


def test_a_file_has_at_most_10_mib(
    api: APIClient, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kinds.MOST_BYTES == 10 * 2**20
    monkeypatch.setattr(kinds, "MOST_BYTES", 50)

    assert refused(api, ticket, files.picture()) == (413, "file_too_large")


def test_a_body_has_at_most_15_mib(api: APIClient, ticket: Ticket) -> None:
    path = f"/company/tickets/{ticket.pk}/files"

    answer = api.generic("POST", path, b" " * (15 * 2**20 + 1), content_type="application/json")

    assert answer.status_code == 413
    assert answer.json()["message"] == "The body is larger than 15 MiB."


@pytest.mark.parametrize(
    ("method", "path", "most"),
    [
        ("POST", "/company/tickets/41/files", 15),
        ("POST", "/company/upload/evidences", 15),
        ("POST", "/admin/tickets/ticket/41/write/", 15),
        ("POST", "/admin/tickets/ticket/41/move/", 1),
        ("PUT", "/company/tickets/41/files", 1),
        ("POST", "/company/tickets/41/filesx", 1),
        ("POST", "/x/company/tickets/41/files", 1),
        ("POST", "/company/tickets/%34/files", 1),
        ("PUT", "/company/attach/evidences/41", 1),
        ("POST", "/company/tickets", 1),
        ("POST", "/admin/login/", 1),
    ],
)
def test_large_bodies_are_accepted_at_three_addresses_only(
    method: str, path: str, most: int
) -> None:
    request = RequestFactory().generic(method, path)

    request.path = path
    assert body_allowance(request).most == most * 2**20


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("import os; os.abort()", "file_unreadable"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "file_too_complex"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "file_too_complex"),
        ("raise MemoryError", "file_unreadable"),
        ("while True: pass", "file_too_complex"),
    ],
)
def test_crashing_or_endless_decoder_harms_no_other_request(
    api: APIClient,
    ticket: Ticket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    code: str,
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(program)
    monkeypatch.setattr(examining, "PROGRAM", broken)
    monkeypatch.setattr(examining, "SECONDS", 0.2)

    assert refused(api, ticket, files.picture()) == (422, code)


def test_the_examiner_s_own_limit_of_processor_time_is_told_from_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = tmp_path / "endless.py"
    folder = str(Path(examining.__file__).parents[2])
    endless.write_text(
        f"import sys\nsys.path.append({folder!r})\n"
        "from core.files import examiner\n"
        "examiner.CPU_SECONDS = 1\nexaminer.limit_itself()\nwhile True: pass\n"
    )
    monkeypatch.setattr(examining, "PROGRAM", endless)

    ran = examining.run_examiner("examine", b"", "image/png")

    with pytest.raises(FileRefused) as caught:
        examining.result_of(ran, "image/png")
    assert caught.value.code == "file_too_complex"
    assert ran.milliseconds == examining.CPU_SECONDS * 1000


def test_few_files_are_opened_at_a_time(
    api: APIClient, ticket: Ticket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examining, "WAIT_SECONDS", 0)
    with examining.places.examiner(None), examining.places.examiner(None):
        answer = api.post(f"/company/tickets/{ticket.pk}/files", as_json(files.picture()))

    assert not examining.places.present
    assert not examining.places.running
    assert (answer.status_code, answer.json()["code"]) == (429, "files_busy")
    assert answer["Retry-After"] == "5"


def test_a_company_never_has_all_examiners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examining, "WAIT_SECONDS", 0)
    places = examining.Places()

    with places.one_for(1):
        with pytest.raises(FileRefused, match="Too many files"), places.one_for(1):
            pass
        with (
            places.one_for(2),
            pytest.raises(FileRefused, match="Too many files"),
            places.one_for(3),
        ):
            pass
        with places.one_for(3):
            pass
    with places.one_for(1):
        pass
    assert not places.present
    assert not places.running


def test_a_company_s_next_file_waits_and_a_further_one_is_refused_at_once() -> None:
    places = examining.Places()
    results: list[str] = []

    def second() -> None:
        with places.one_for(1):
            results.append("second")

    with places.one_for(1):
        thread = Thread(target=second)
        thread.start()
        while places.present[1] < 2:
            sleep(0.001)
        with pytest.raises(FileRefused, match="Too many files"), places.one_for(1):
            pass
        results.append("first")
    thread.join()
    assert results == ["first", "second"]


def test_seconds_of_processor_are_counted_per_company_and_minute(
    api: APIClient,
    birch_api: APIClient,
    ticket: Ticket,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "file_seconds": 15}
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0 + 20.5)
    slow = tmp_path / "slow.py"
    monkeypatch.setattr(examining, "PROGRAM", slow)
    answers = []
    for program in ('print(\'{"active": false, "milliseconds": 9000}\')', "import os; os.abort()"):
        slow.write_text(program)
        answers.append(api.post("/company/upload/evidences", as_json(files.picture())))
    slow.write_text('print(\'{"active": false, "milliseconds": 1}\')')
    refused = api.post("/company/upload/evidences", as_json(files.picture()))

    assert [answer.status_code for answer in answers] == [200, 422]
    assert (refused.status_code, refused.json()["code"]) == (429, "file_seconds_spent")
    assert refused["Retry-After"] == "40"
    other = birch_api.post("/company/upload/evidences", as_json(files.picture()))
    assert other.status_code == 200
    monkeypatch.setattr(time, "time", lambda: 1_800_000_060.0)
    assert send(api, ticket.pk, files.picture())[0] == 200


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (files.picture("WEBP", (7_000, 7_000), method=0), "send it as a JPEG"),
        (files.picture("JPEG", (7_000, 7_000)) + b"\xff\xda" * 100, "Make it smaller"),
    ],
    ids=["WebP", "JPEG of a hundred scans"],
)
def test_image_that_takes_too_long_is_refused_by_its_header(
    api: APIClient, ticket: Ticket, content: bytes, hint: str
) -> None:
    status, answer = send(api, ticket.pk, content)

    assert (status, answer["code"]) == (422, "file_too_complex")
    assert "7000 x 7000 pixels, which take too long" in answer["message"]
    assert hint in answer["message"]
    # It was refused after hardly any processor time.
    assert 0 < examining.spend(ticket.company_id, 0) < 2_000


def finds_nothing(name: str, file: BytesIO) -> None:
    assert name == "a.pdf"
    assert file.read().startswith(b"%PDF-")


def finds_a_virus(name: str, file: BytesIO) -> str:
    return "Eicar-Test-Signature"


def is_away(name: str, file: BytesIO) -> str:
    raise ConnectionRefusedError("scanner.internal:3310")


def test_a_scanner_decides_before_anybody_is_shown_a_file(
    api: APIClient, ticket: Ticket, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    for scanner, expected in (
        (finds_a_virus, (422, "file_harmful")),
        (is_away, (503, "scanner_unavailable")),
    ):
        settings.FILE_SCANNER = f"{__name__}.{scanner.__name__}"
        with caplog.at_level(logging.CRITICAL, "core.files.scanning"):
            assert refused(api, ticket, files.pdf(), "a.pdf") == expected

    settings.FILE_SCANNER = f"{__name__}.{finds_nothing.__name__}"
    assert send(api, ticket.pk, files.pdf(), "a.pdf")[0] == 200
