"""File names in archives: valid on every file system, and never cut within a letter."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from companies.models import Company
from core.files.archive_names import archive_name
from tests import builders as build
from tests import files
from tests.desk.test_claim_file import keep, take
from tickets.models import TicketFile

BOX = "\U0001f4e6"
NAMES = [
    BOX * 146 + ".png",
    "箱" * 145 + ".jpeg",
    "e\u0301" * 73 + ".png",
    "CON.png",
    "box.png",
    "BOX.png",
    "box.png",
    "صورة الصندوق.png",
]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("box.png", "7-box.png"),
        (BOX * 150 + ".png", "7-" + BOX * 62 + ".png"),
        # Grapheme clusters: a letter and its accent, a thumb and its colour, a flag, a family.
        ("ox\u0301" * 200 + ".png", "7-" + "ox\u0301" * 62 + "o.png"),
        ("a" + "\U0001f44d\U0001f3fd" * 90 + ".pdf", "7-a" + "\U0001f44d\U0001f3fd" * 31 + ".pdf"),
        (
            "aa" + "\U0001f1f2\U0001f1fd" * 90 + ".pdf",
            "7-aa" + "\U0001f1f2\U0001f1fd" * 30 + ".pdf",
        ),
        ("\U0001f468\u200d\U0001f467" * 90, "7-" + "\U0001f468\u200d\U0001f467" * 23),
        ("a/../b\\c:d.png", "7-a_.._b_c_d.png"),
        ("NUL", "7-NUL"),
        ("box.png. . ", "7-box.png"),
        (".png", "7-.png"),
        ("..", "7-"),
        ("con.PNG", "7-con.PNG"),
        ("a\u202egnp.exe", "7-a_gnp.exe"),
        ("a\u2028b\x85.png", "7-a_b_.png"),
        ("a." + "b" * 300, "7-a." + "b" * 251),
        ("\u0301" * 400, "7-"),
    ],
)
def test_a_name_is_cut_between_letters_and_keeps_its_ending(name: str, expected: str) -> None:
    assert archive_name(7, name) == expected
    assert len(expected.encode()) <= 255


def test_every_archive_unpacks(company: Company, desk: Client, tmp_path: Path) -> None:
    ticket = build.ticket(company)
    for name in NAMES:
        keep(ticket, name, files.picture(), "image/png")
    target = tmp_path / "export.zip"

    call_command("export_company", str(company.pk), "--to", str(target), verbosity=0)
    claim = BytesIO(b"".join(take(desk, ticket).streaming_content))

    for archive, folder in ((target, "export"), (claim, "claim")):
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(tmp_path / folder)
        unpacked = {one.name.casefold() for one in (tmp_path / folder / "files").iterdir()}
        expected = {archive_name(one.pk, one.name).casefold() for one in TicketFile.objects.all()}
        assert unpacked == expected
        assert len(unpacked) == len(NAMES)
