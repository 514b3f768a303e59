"""Exporting a company: all its words, nobody else's, and no secret."""

import json
import zipfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from companies import exporting
from companies.models import AuditEntry, Company, KeptAnswer
from shipments.models import Incidence
from tests import builders as build
from tests.erasing.columns import KEPT_REASONS, text_columns
from tests.erasing.world import everything, file
from tickets.models import Agent, Comment, IncidenceLink, Ticket, TicketFile

ONE, OTHER = "zebracanary", "quaggacanary"
# Tables with texts of companies that are not exported, and the reasons.
READ_BY_VIEWS = """
SELECT DISTINCT table_name FROM information_schema.view_table_usage WHERE view_name = ANY(%s)
"""
NOT_TOLD = {
    "core_failedrow": "what we could not work on; an id and an error of ours",
    "companies_keptanswer": "what it was answered already, for a day",
    "companies_searchname": "made of the name",
    "core_mail": "on its way to it",
    "deliveries_wakeup": "the engine's",
    "desk_savedview": "how our people look at it",
    "django_admin_log": "who of our people did what",
    "portal_portalsession": "who came in, for a week",
    "tickets_mention": "among agents",
    "tickets_notification": "among agents",
    "tickets_pendinganswer": "not sent to it",
    "tickets_searchentry": "made of the ticket",
}


@pytest.fixture
def companies(disk: Path, agent: Agent) -> tuple[Company, Company]:
    return everything(ONE, agent, 4100), everything(OTHER, agent, 4200)


def export(company: Company, folder: Path, *options: str) -> dict[str, bytes]:
    """Return the archive's files by name."""
    target = folder / "export.zip"
    call_command(
        "export_company", str(company.pk), "--to", str(target), *options, stdout=StringIO()
    )
    with zipfile.ZipFile(target) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rows(archive: dict[str, bytes], name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive[f"{name}.jsonl"].splitlines()]


def contents(archive: dict[str, bytes]) -> list[bytes]:
    return [content for name, content in archive.items() if name.startswith("files/")]


def test_every_table_is_told_or_has_its_reason(db: None) -> None:
    exported = {each.table for each in exporting.all_exported()}
    with connection.cursor() as cursor:
        cursor.execute(READ_BY_VIEWS, [list(exported)])
        exported |= {table for (table,) in cursor.fetchall()}
    texts = {table for table, column in text_columns() if f"{table}.{column}" not in KEPT_REASONS}

    assert texts - KEPT_REASONS.keys() - exported == NOT_TOLD.keys() & texts
    assert not exported & NOT_TOLD.keys()


def test_has_all_that_is_its_own_and_nothing_of_another(
    companies: tuple[Company, Company], tmp_path: Path
) -> None:
    one, _ = companies
    incidence = Incidence.objects.get(shipment__company=one)
    IncidenceLink.objects.create(
        ticket=Ticket.objects.get(company=one), incidence=incidence, created_at=timezone.now()
    )

    archive = export(one, tmp_path, "--internal")

    for each in exporting.all_exported():
        lines = archive[f"{each.name}.jsonl"]
        assert lines, each.name
    # The answer of an attempt contains it as well.
    assert rows(archive, "attempts")[0]["answer"] == ONE
    for name in ("company", "webhooks", "events", "attempts", "shipments", "tickets", "comments"):
        assert ONE.encode() in archive[f"{name}.jsonl"], name
    assert any(name.startswith("files/") for name in archive)
    assert not [name for name, content in archive.items() if OTHER.encode() in content]


def test_no_secret_leaves(companies: tuple[Company, Company], tmp_path: Path) -> None:
    content = b"".join(export(companies[0], tmp_path, "--internal").values())

    for secret in ("5e" * 32, "6e" * 32, f"{4100:064}"):
        assert secret.encode() not in content
    row = KeptAnswer.objects.filter(company=companies[0]).get()
    assert b"secret_body" not in content
    assert row.fingerprint


def test_internal_notes_are_exported_only_on_request(
    company: Company, agent: Agent, disk: Path, tmp_path: Path
) -> None:
    ticket = build.ticket(company)
    for public, text in ((True, "To the company"), (False, "Among agents")):
        values = {"by": "agent", "actor": "ada", "public": public, "text": text}
        Comment.objects.create(
            ticket=ticket, status=ticket.status, created_at=timezone.now(), **values
        )
        stored_file = file(company, ticket, text)
        TicketFile.objects.filter(pk=stored_file.pk).update(public=public)

    archive = export(company, tmp_path)
    comments = rows(archive, "comments")
    assert [each["name"] for each in rows(archive, "files")] == ["To the company"]
    assert contents(archive) == [b"To the company"]
    (tmp_path / "export.zip").unlink()
    archive = export(company, tmp_path, "--internal")
    all_of_it = rows(archive, "comments")
    assert [each["name"] for each in rows(archive, "files")] == ["To the company", "Among agents"]
    assert contents(archive) == [b"To the company", b"Among agents"]

    assert [(each["text"], "actor" in each) for each in comments] == [("To the company", False)]
    assert [(each["text"], each["actor"]) for each in all_of_it] == [
        ("To the company", "ada"),
        ("Among agents", "ada"),
    ]


def test_a_file_whose_content_is_gone_has_its_line(
    companies: tuple[Company, Company], disk: Path, tmp_path: Path
) -> None:
    for path in disk.rglob("*"):
        if path.is_file():
            path.unlink()

    archive = export(companies[0], tmp_path)

    assert rows(archive, "files")
    assert not any(name.startswith("files/") for name in archive)


def test_archive_is_private_and_overwrites_nothing(
    companies: tuple[Company, Company], tmp_path: Path
) -> None:
    export(companies[0], tmp_path)

    assert (tmp_path / "export.zip").stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="is there already"):
        export(companies[0], tmp_path)


def test_failed_export_leaves_no_file(
    companies: tuple[Company, Company], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise OSError("the storage is away")

    monkeypatch.setattr(exporting, "read_file", fail)
    (folder := tmp_path / "exports").mkdir()

    with pytest.raises(CommandError, match="the storage is away"):
        export(companies[0], folder)

    assert list(folder.iterdir()) == []


def test_export_is_audited(companies: tuple[Company, Company], tmp_path: Path) -> None:
    export(companies[0], tmp_path)

    entry = AuditEntry.objects.get(act="export_company")
    assert (entry.company_id, ONE in str(entry.details)) == (companies[0].pk, False)


def test_there_must_be_such_a_company(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no company 7"):
        call_command("export_company", "7", "--to", str(tmp_path / "x.zip"))
