"""Makes the claim file in a folder that is gone afterwards, one file of the ticket at a time."""

import hashlib
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import BoundedSemaphore
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from django.contrib.auth.models import User
from django.utils import timezone, translation

from companies.files.storage import FileMissing, read_file
from desk.claim_file.contents import (
    ClaimFacts,
    delivery_columns,
    pdf_contents,
    read_claim,
    scan_columns,
)
from desk.common.csv_files import csv_lines
from tickets.changes.actors import actor_for
from tickets.changes.history import record_history
from tickets.history_codes import Kind
from tickets.models import Ticket

logger = logging.getLogger(__name__)

PROGRAM = Path(__file__).with_name("maker.py")
FONTS = Path(__file__).with_name("fonts")
# Longer than its own limit of processor time, as the machine may be busy.
SECONDS = 120.0
# At a time in one web process, each with a gigabyte at worst beside it.
AT_ONCE = BoundedSemaphore(1)
WAIT_SECONDS = 10.0
CHUNK = 1024 * 1024


class Busy(Exception):
    """Another claim file is being made."""


def claim_file(
    ticket: Ticket, *, user: User, language: str, whole: bool, for_carrier: bool
) -> IO[bytes]:
    """The ZIP, or the PDF alone, open to be read; history keeps who made it.

    Times are in the company's zone. Never more than one file of the ticket is in memory. Raises
    NotAllowed and Busy.
    """
    actor, words = actor_for(user), ExitStack()
    # Holds no transaction: the storage may be far away.
    with words, one_at_a_time(), TemporaryDirectory(prefix="claim-") as name:
        words.enter_context(translation.override(language))
        words.enter_context(timezone.override(ticket.company.zone))
        claim = read_claim(ticket, for_carrier=for_carrier)
        folder = Path(name)
        fetch_files(claim, folder)
        pdf = make_pdf(claim, folder, language)
        made = zip_of(claim, folder, pdf) if whole else open_copy(pdf)
    digest = hashlib.sha256()
    while part := made.read(CHUNK):
        digest.update(part)
    made.seek(0)
    facts = {"sha256": digest.hexdigest(), "language": language}
    facts |= {} if for_carrier else {"copy": "company"}
    record_history(ticket, actor, Kind.CLAIM_FILE_TAKEN, data=facts)
    return made


@contextmanager
def one_at_a_time() -> Iterator[None]:
    if not AT_ONCE.acquire(timeout=WAIT_SECONDS):
        raise Busy
    try:
        yield
    finally:
        AT_ONCE.release()


def fetch_files(claim: ClaimFacts, folder: Path) -> None:
    """Put the files of the ticket into the folder; what the storage has lost is not there."""
    for file in claim.files:
        try:
            (folder / str(file.pk)).write_bytes(read_file(file.stored_as))
        except FileMissing:
            text = "file %s of ticket %s is not in the storage"
            ticket_id = claim.ticket.pk
            logger.warning(text, file.pk, ticket_id, extra={"ticket_id": ticket_id})


def make_pdf(claim: ClaimFacts, folder: Path, language: str) -> Path:
    """The PDF with the files in it; without any, where one of them ends the maker."""
    out = folder / "claim.pdf"
    contents = {**pdf_contents(claim, language), "fonts": str(FONTS), "out": str(out)}
    for file, told in zip(claim.files, contents["files"], strict=True):
        told["path"] = str(folder / str(file.pk))
    ran = run_maker(contents)
    if ran != 0:
        logger.warning("the maker of a claim file ended with %s: once more without files", ran)
        names = [one["title"] for one in contents["files"]]
        section = {"title": contents["left_out"], "columns": [], "widths": (1,)}
        section["rows"] = [[name] for name in names]
        sections = [*contents["sections"], *([section] if names else [])]
        if (ran := run_maker({**contents, "files": [], "sections": sections})) != 0:
            raise RuntimeError(f"the maker of a claim file ended with {ran}")
    return out


def run_maker(contents: dict[str, Any]) -> int:
    """How it ended: 0 where it has written the PDF."""
    try:
        ran = subprocess.run(  # noqa: S603 - our own program, and no argument of a stranger's
            [sys.executable, "-I", "-B", str(PROGRAM)],
            input=json.dumps(contents).encode(),
            capture_output=True,
            timeout=SECONDS,
            cwd="/",
            env={},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1
    if ran.returncode:
        logger.info("the maker said: %s", ran.stderr[-2000:].decode(errors="replace"))
    return ran.returncode


def zip_of(claim: ClaimFacts, folder: Path, pdf: Path) -> IO[bytes]:
    made = TemporaryFile()  # noqa: SIM115 - whoever reads it closes it
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        archive.write(pdf, f"claim-{claim.ticket.pk}.pdf")
        archive.writestr("scans.csv", "".join(csv_lines(scan_columns(), claim.scans)))
        if not claim.for_carrier:
            told = "".join(csv_lines(delivery_columns(), claim.deliveries))
            archive.writestr("deliveries.csv", told)
            archive.writestr("ticket.json", as_readable_json(claim.row))
        for file, shown in zip(claim.files, claim.row["files"], strict=True):
            path = folder / str(file.pk)
            if path.exists():
                # Pictures and PDFs are compressed already.
                archive.write(path, shown["file"], compress_type=ZIP_STORED)
    made.seek(0)
    return made


def open_copy(pdf: Path) -> IO[bytes]:
    """Still there when its folder is gone."""
    return pdf.open("rb")


def as_readable_json(row: dict[str, Any]) -> str:
    return json.dumps(row, indent=1, ensure_ascii=False) + "\n"
