"""Background work on files: thumbnails, and removing files that nobody has any more."""

from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.files import storage
from core.files.examining import Examined
from core.models import FailedRow
from tests import builders as build
from tests import files
from tests.files import as_json, send
from tickets import jobs
from tickets.api import files as api_of_files
from tickets.changes import file_upkeep
from tickets.models import Ticket, TicketFile, UnfinishedFile


@pytest.fixture(autouse=True)
def kept_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_of_files, "examine_file", lambda content, *_: Examined(content, False))


@pytest.fixture
def disk(settings: Settings, tmp_path: Path) -> Path:
    backend = "django.core.files.storage.FileSystemStorage"
    own = {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": own}
    return tmp_path


@pytest.fixture
def ticket(company: Company) -> Ticket:
    return build.ticket(company)


def on(disk: Path) -> set[str]:
    return {str(path.relative_to(disk)) for path in disk.rglob("*") if path.is_file()}


def test_the_missing_small_pictures_are_made_by_a_task(api: APIClient, ticket: Ticket) -> None:
    for content in (files.picture(size=(640, 160)), files.pdf(), b"\xff\xd8\xff\xe0 broken"):
        assert send(api, ticket.pk, content)[0] == 200

    assert jobs.make_thumbnails() == 3
    assert jobs.make_thumbnails() == 0

    picture, page, broken = TicketFile.objects.all()
    sizes = [
        Image.open(BytesIO(default_storage.open(one.thumbnail).read())).size
        for one in (picture, page)
    ]
    assert sizes == [(320, 80), (214, 320)]
    assert broken.thumbnail == ""


def test_a_storage_that_fails_for_one_file_harms_no_other(
    api: APIClient, ticket: Ticket, monkeypatch: pytest.MonkeyPatch, caplog: object
) -> None:
    for _ in range(2):
        send(api, ticket.pk, files.picture())
    bad, _ = TicketFile.objects.all()
    default_storage.delete(bad.stored_as)
    monkeypatch.setattr(file_upkeep, "make_thumbnail", lambda *_: b"small")

    assert jobs.make_thumbnails() == 1

    assert set(TicketFile.objects.filter(thumbnail=None)) == {bad}
    assert FailedRow.objects.get().key == str(bad.pk)


@pytest.mark.django_db
def test_orphan_of_a_killed_upload_is_removed_after_an_hour(disk: Path) -> None:
    upload = file_upkeep.UNFINISHED_FOR
    for age in (upload / 2, upload * 2):
        name = storage.write_file(storage.new_file_name(), b"half done")
        UnfinishedFile.objects.create(name=name, created_at=timezone.now() - age)

    assert jobs.remove_orphans() == 1

    assert on(disk) == {UnfinishedFile.objects.get().name}


@pytest.mark.django_db
def test_an_orphan_that_cannot_be_removed_keeps_no_other(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = timezone.now() - 2 * file_upkeep.UNFINISHED_FOR
    names = [storage.write_file(storage.new_file_name(), b"half done") for _ in range(3)]
    for name in names:
        UnfinishedFile.objects.create(name=name, created_at=old)
    remove = file_upkeep.remove_unfinished

    def refuse_the_first(name: str) -> int:
        if name == names[0]:
            raise PermissionError(name)
        return remove(name)

    monkeypatch.setattr(file_upkeep, "remove_unfinished", refuse_the_first)
    monkeypatch.setattr(file_upkeep, "MOST_AT_ONCE", 1)

    # It has failed once, and comes last from now on.
    assert [jobs.remove_orphans() for _ in range(3)] == [0, 1, 1]

    assert on(disk) == {names[0]}
    assert FailedRow.objects.get().key == names[0]


def test_unattached_file_is_deleted_after_a_day(
    api: APIClient, ticket: Ticket, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_upkeep, "make_thumbnail", lambda *_: b"small")
    file_id = send(api, ticket.pk, files.picture())[1]["data"]["id"]
    for _ in range(2):
        api.post("/company/upload/evidences", as_json(files.picture()))
    jobs.make_thumbnails()
    old, new = TicketFile.objects.filter(ticket=None)
    uploaded_at = timezone.now() - timedelta(hours=25)
    TicketFile.objects.filter(pk__in=[old.pk, file_id]).update(created_at=uploaded_at)

    assert jobs.remove_orphans() == 2

    files_left = TicketFile.objects.all()
    assert {file.pk for file in files_left} == {file_id, new.pk}
    assert on(disk) == {name for file in files_left for name in (file.stored_as, file.thumbnail)}
