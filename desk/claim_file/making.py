"""Makes the claim file and the evidence, which is the claim file without its PDF.

In a folder that is gone afterwards, one file of the ticket at a time.
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

# For the evidence.
NEEDED = {
    Ticket: ["tickets.view_ticket", "deliveries.view_delivery"],
    Shipment: ["shipments.view_shipment", "deliveries.view_delivery"],
}
PROGRAM = Path(__file__).with_name("maker.py")
FONTS = Path(__file__).with_name("fonts")
# Longer than its own limit of processor time, as the machine may be busy.
SECONDS = 120.0
# At a time in one web process, each with a gigabyte at worst beside it.
AT_ONCE = BoundedSemaphore(1)
WAIT_SECONDS = 10.0


class Busy(Exception):
    """Another file is being made."""


def claim_file(
    ticket: Ticket, *, user: User, language: str, whole: bool, for_carrier: bool
) -> IO[bytes]:
    """The ZIP, or the PDF alone, open to be read; history keeps who made it.

    Times are in the company's zone. Never more than one file of the ticket is in memory. Raises
    NotAllowed and Busy.
    """
    actor = actor_for(user)
    # Holds no transaction: the storage may be far away.
    with (
        one_at_a_time() as folder,
        translation.override(language),
        timezone.override(ticket.company.zone),
    ):
        claim = read_claim(ticket, for_carrier=for_carrier)
        held = fetch_files(claim.files, folder)
        pdf = make_pdf(claim, folder, language)
        # Open, it is still there when its folder is gone.
        made = zip_of(claim_parts(claim, held, pdf)) if whole else pdf.open("rb")
    facts = {"sha256": digest_of(made), "language": language}
    facts |= {} if for_carrier else {"copy": "company"}
    record_history(ticket, actor, Kind.CLAIM_FILE_TAKEN, data=facts)
    return made


def evidence(about: Ticket | Shipment, *, user: User) -> IO[bytes]:
    """The ZIP of what was sent about a shipment, open to be read; its history keeps who took it.

    That of a ticket's shipment has the ticket's files too. Raises NotAllowed and Busy.
    """
    if not user.is_active or not user.has_perms(NEEDED[type(about)]):
        text = gettext("%(name)s is not allowed to download evidence.")
        raise NotAllowed(text % {"name": user.get_username()})
    with one_at_a_time() as folder:
        made = zip_of(evidence_parts(about, folder))
    digest = digest_of(made)
    if isinstance(about, Ticket):
        actor = Actor(By.AGENT, user.get_username())
        record_history(about, actor, Kind.EVIDENCE_TAKEN, data={"sha256": digest})
    else:
        text = gettext("Downloaded the evidence, SHA-256 %(digest)s.")
        LogEntry.objects.log_actions(user.pk, [about], CHANGE, text % {"digest": digest})
    return made


@contextmanager
def one_at_a_time() -> Iterator[Path]:
    """The folder in which it is made. Raises Busy."""
    if not AT_ONCE.acquire(timeout=WAIT_SECONDS):
        raise Busy
    try:
        with TemporaryDirectory(prefix="claim-") as name:
            yield Path(name)
    finally:
        AT_ONCE.release()


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


def claim_parts(claim: ClaimFacts, held: dict[int, Path], pdf: Path) -> Parts:
    parts: Parts = {f"claim-{claim.ticket.pk}.pdf": pdf}
    parts["scans.csv"] = table_of(scan_columns(), claim.scans)
    if not claim.for_carrier:
        parts["deliveries.csv"] = table_of(delivery_columns(), claim.deliveries)
        parts["ticket.json"] = readable_json(claim.row)
    for file, shown in zip(claim.files, claim.row["files"], strict=True):
        if file.pk in held:
            parts[shown["file"]] = held[file.pk]
    return parts


def table_of(columns: list[str], rows: Rows) -> bytes:
    return "".join(csv_lines(columns, rows)).encode()
