"""Creation of claim files and of evidence archives.

Each is made in a temporary folder; at most one of the ticket's files is in memory at a time.
"""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore
from typing import IO, Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.utils import timezone, translation
from django.utils.translation import gettext

from desk.claim_file.contents import (
    ClaimFacts,
    Rows,
    delivery_columns,
    pdf_contents,
    read_claim,
    scan_columns,
)
from desk.claim_file.evidence import evidence_parts
from desk.claim_file.parts import Parts, digest_of, fetch_files, readable_json, zip_of
from desk.common.csv_files import csv_lines
from shipments.models import Shipment
from tickets.changes.actors import Actor, NotAllowed, actor_for
from tickets.changes.history import record_history
from tickets.history_codes import Kind
from tickets.models import Ticket
from tickets.statuses import By

logger = logging.getLogger(__name__)

# Permissions for the evidence.
NEEDED = {
    Ticket: ["tickets.view_ticket", "deliveries.view_delivery"],
    Shipment: ["shipments.view_shipment", "deliveries.view_delivery"],
}
PROGRAM = Path(__file__).with_name("maker.py")
FONTS = Path(__file__).with_name("fonts")
# Longer than the maker's own limit of processor time: the machine may be busy.
SECONDS = 120.0
# Files made at a time per web process: a maker may take a gigabyte.
AT_ONCE = BoundedSemaphore(1)
WAIT_SECONDS = 10.0


class Busy(Exception):
    """Another file is being made."""


def claim_file(
    ticket: Ticket, *, user: User, language: str, whole: bool, for_carrier: bool
) -> IO[bytes]:
    """Make the claim file, a ZIP or (not `whole`) the PDF alone, and record it in the history.

    Returns it open for reading. Times are in the company's zone. Raises NotAllowed and Busy.
    """
    actor = actor_for(user)
    # No transaction is open: the storage may be slow.
    with (
        one_at_a_time() as folder,
        translation.override(language),
        timezone.override(ticket.company.zone),
    ):
        claim = read_claim(ticket, for_carrier=for_carrier)
        paths = fetch_files(claim.files, folder)
        pdf = make_pdf(claim, folder, language)
        # An open file outlives the deletion of its folder.
        output = zip_of(claim_parts(claim, paths, pdf)) if whole else pdf.open("rb")
    facts = {"sha256": digest_of(output), "language": language}
    facts |= {} if for_carrier else {"copy": "company"}
    record_history(ticket, actor, Kind.CLAIM_FILE_TAKEN, data=facts)
    return output


def evidence(about: Ticket | Shipment, *, user: User) -> IO[bytes]:
    """Make the ZIP with the deliveries about a shipment, and record who took it.

    Returns it open for reading; a ticket's has its files as well. Raises NotAllowed and Busy.
    """
    if not user.is_active or not user.has_perms(NEEDED[type(about)]):
        text = gettext("%(name)s is not allowed to download evidence.")
        raise NotAllowed(text % {"name": user.get_username()})
    with one_at_a_time() as folder:
        archive = zip_of(evidence_parts(about, folder))
    digest = digest_of(archive)
    if isinstance(about, Ticket):
        actor = Actor(By.AGENT, user.get_username())
        record_history(about, actor, Kind.EVIDENCE_TAKEN, data={"sha256": digest})
    else:
        text = gettext("Downloaded the evidence, SHA-256 %(digest)s.")
        LogEntry.objects.log_actions(user.pk, [about], CHANGE, text % {"digest": digest})
    return archive


@contextmanager
def one_at_a_time() -> Iterator[Path]:
    """Provide the temporary folder, to one caller at a time. Raises Busy."""
    if not AT_ONCE.acquire(timeout=WAIT_SECONDS):
        raise Busy
    try:
        with TemporaryDirectory(prefix="claim-") as name:
            yield Path(name)
    finally:
        AT_ONCE.release()


def make_pdf(claim: ClaimFacts, folder: Path, language: str) -> Path:
    """Make the PDF with the files in it, or without any file if one of them kills the maker."""
    out = folder / "claim.pdf"
    contents = {**pdf_contents(claim, language), "fonts": str(FONTS), "out": str(out)}
    for file, entry in zip(claim.files, contents["files"], strict=True):
        entry["path"] = str(folder / str(file.pk))
    code = run_maker(contents)
    if code != 0:
        logger.warning("the maker of a claim file ended with %s: once more without files", code)
        names = [entry["title"] for entry in contents["files"]]
        section = {"title": contents["left_out"], "columns": [], "widths": (1,)}
        section["rows"] = [[name] for name in names]
        sections = [*contents["sections"], *([section] if names else [])]
        if (code := run_maker({**contents, "files": [], "sections": sections})) != 0:
            raise RuntimeError(f"the maker of a claim file ended with {code}")
    return out


def run_maker(contents: dict[str, Any]) -> int:
    """Run the maker; return its exit code, 0 if it has written the PDF, -1 after a timeout."""
    try:
        process = subprocess.run(  # noqa: S603 - our own program, and no argument of a stranger's
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
    if process.returncode:
        logger.info("the maker said: %s", process.stderr[-2000:].decode(errors="replace"))
    return process.returncode


def claim_parts(claim: ClaimFacts, paths: dict[int, Path], pdf: Path) -> Parts:
    parts: Parts = {f"claim-{claim.ticket.pk}.pdf": pdf}
    parts["scans.csv"] = table_of(scan_columns(), claim.scans)
    if not claim.for_carrier:
        parts["deliveries.csv"] = table_of(delivery_columns(), claim.deliveries)
        parts["ticket.json"] = readable_json(claim.row)
    for file, entry in zip(claim.files, claim.row["files"], strict=True):
        if file.pk in paths:
            parts[entry["file"]] = paths[file.pk]
    return parts


def table_of(columns: list[str], rows: Rows) -> bytes:
    return "".join(csv_lines(columns, rows)).encode()
