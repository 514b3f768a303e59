"""ZIP archives made of generated parts and of the ticket's files, fetched one by one."""

import hashlib
import json
import logging
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from core.files.storage import FileMissing, read_file
from tickets.models import TicketFile

logger = logging.getLogger(__name__)

# Parts by their names in the archive; a path is a file of the ticket, or the PDF.
Parts = dict[str, bytes | Path]
# The earliest time of the ZIP format: entries have no time of their own.
NO_TIME = (1980, 1, 1, 0, 0, 0)


def fetch_files(files: Iterable[TicketFile], folder: Path) -> dict[int, Path]:
    """Copy files of a ticket into the folder; return their paths by id.

    Leaves out what the storage has lost or changed. Slow, so call it outside a transaction.
    """
    paths = {}
    for file in files:
        try:
            content = read_file(file.stored_as)
        except FileMissing:
            content = b""
        if hashlib.sha256(content).hexdigest() == file.sha256:
            paths[file.pk] = folder / str(file.pk)
            paths[file.pk].write_bytes(content)
        else:
            text = "file %s of ticket %s is not in the storage as it came"
            logger.warning(text, file.pk, file.ticket_id, extra={"ticket_id": file.ticket_id})
    return paths


def zip_of(parts: Parts) -> IO[bytes]:
    """Build an archive, open for reading; the same parts give the same bytes."""
    output = TemporaryFile()  # noqa: SIM115 - whoever reads it closes it
    with ZipFile(output, "w") as archive:
        for name, part in sorted(parts.items()):
            entry = ZipInfo(name, NO_TIME)
            # Pictures and PDFs are already compressed.
            entry.compress_type = ZIP_STORED if isinstance(part, Path) else ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content_of(part))
    output.seek(0)
    return output


def content_of(part: bytes | Path) -> bytes:
    return part.read_bytes() if isinstance(part, Path) else part


def digest_of(file: IO[bytes]) -> str:
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    file.seek(0)
    return digest


def readable_json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
