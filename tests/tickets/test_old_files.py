"""After a while the contents of files are deleted, and the ticket still lists the files."""

from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from companies.models import Company
from core.files import storage
from tests import builders as build
from tickets.changes import old_files
from tickets.models import Ticket, TicketFile, UnfinishedFile
from tickets.statuses import Status


@pytest.fixture(autouse=True)
def disk(settings: Settings, tmp_path: Path) -> Path:
    backend = "django.core.files.storage.FileSystemStorage"
    own = {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": own}
    return tmp_path


def ago(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


def file(ticket: Ticket, uploaded: int) -> TicketFile:
    """Create a file with content and thumbnail, `uploaded` days ago."""
    name = default_storage.save(f"files/{ticket.pk}-{uploaded}", ContentFile(b"content"))
    small = default_storage.save(f"{name}-small", ContentFile(b"small"))
    return build.file(
        ticket.company, ticket=ticket, stored_as=name, thumbnail=small, created_at=ago(uploaded)
    )


def decided(company: Company, days: int, status: Status = Status.DECLINED) -> Ticket:
    return build.ticket(company, status=status, decided_at=ago(days))


def contents(root: Path) -> int:
    return sum(path.is_file() for path in root.rglob("*"))


def prune(*options: str) -> str:
    out = StringIO()
    call_command("prune", *options, stdout=out)
    return out.getvalue()


def test_old_content_is_deleted_and_its_row_stays(
    company: Company, api: APIClient, admin_client: Client, settings: Settings, disk: Path
) -> None:
    settings.KEEP_DAYS = {**settings.KEEP_DAYS, "files": 100}
    old, young, open_ticket = decided(company, 101), decided(company, 99), build.ticket(company)
    opened_again = decided(company, 300, Status.PENDING)
    old_files = [file(old, 400), file(old, 300)]
    young_files = [file(young, 400), file(open_ticket, 400), file(opened_again, 400)]

    assert "would delete 2 files of decided tickets" in prune("--dry-run")
    assert contents(disk) == 10
    assert "deleted 2 files of decided tickets" in prune()

    assert contents(disk) == 6
    assert not UnfinishedFile.objects.exists()
    assert [each.has_content for each in TicketFile.objects.order_by("pk")] == [False] * 2 + [
        True
    ] * 3
    (row,) = api.get(f"/company/tickets/{old.pk}").json()["data"][:1]
    assert row["files"][0]["name"] == old_files[0].name
    assert api.get(row["files"][0]["url"]).status_code == 404
    page = admin_client.get(f"/admin/tickets/ticket/{old.pk}/change/").content.decode()
    assert page.count("Its content is no longer kept.") == 2
    assert f"/file/{old_files[0].pk}" not in page
    page = admin_client.get(f"/admin/tickets/ticket/{young.pk}/change/").content.decode()
    assert "Its content is no longer kept." not in page
    assert len(young_files) == 3
    assert "deleted 0 files of decided tickets" in prune()


def test_prune_with_days_leaves_evidence(company: Company, disk: Path) -> None:
    file(decided(company, 200), 300)

    prune("--older-than", "1")

    assert contents(disk) == 2


def test_failed_deletion_is_retried(
    company: Company, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str) -> None:
        raise OSError("away")

    monkeypatch.setattr(old_files, "STEP", 1)
    for number in range(3):
        file(decided(company, 800), 900 + number)
    with monkeypatch.context() as away:
        away.setattr(storage, "remove_file", fail)
        prune()
    assert (contents(disk), UnfinishedFile.objects.count()) == (6, 6)

    UnfinishedFile.objects.update(created_at=ago(1))
    call_command("shell", "-c", "from tickets.jobs import remove_orphans; remove_orphans()")
    assert contents(disk) == 0
