"""The files of a ticket, as they go into the evidence."""

import hashlib
from typing import Any, NamedTuple

from companies.files.kinds import KINDS
from companies.files.storage import FileMissing, read_file
from tickets.models import Ticket, TicketFile

# The archive is made in memory.
MOST_FILE_BYTES = 64 * 1024 * 1024


class FilePart(NamedTuple):
    """What the record says of a file, and its content where the archive holds it."""

    entry: dict[str, Any]
    content: bytes | None


def file_parts(ticket: Ticket) -> list[FilePart]:
    """Every file of the ticket, the oldest first; as many with their content as there is room for.

    Reads the storage, so it belongs into no transaction.
    """
    parts, room = [], MOST_FILE_BYTES
    for file in ticket.files.select_related("requested_document"):
        content = content_of_file(file) if file.size <= room else None
        room -= len(content or b"")
        parts.append(FilePart(file_entry(file, held=content is not None), content))
    return parts


def content_of_file(file: TicketFile) -> bytes | None:
    """None where the storage has lost it, or has something else."""
    try:
        content = read_file(file.stored_as)
    except FileMissing:
        return None
    return content if hashlib.sha256(content).hexdigest() == file.sha256 else None


def file_entry(file: TicketFile, *, held: bool) -> dict[str, Any]:
    # Its name is a stranger's: what programs unpack is named by us.
    path = f"files/{file.pk}{KINDS[file.media_type].extensions[0]}"
    return {
        "file": path if held else None,
        "name": file.name,
        "description": file.description,
        "requested_document": file.requested_document and file.requested_document.name,
        "content_type": file.media_type,
        "bytes": file.size,
        "sha256": file.sha256,
        "received_at": file.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
