"""Files that companies send to their tickets (decision N8)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from companies.models import Company
from core.files import storage
from core.files.refusals import FileRefused
from core.jobs import doorbell
from tickets.changes.actors import Actor
from tickets.changes.documents import find_requested, fulfil
from tickets.changes.history import record_history
from tickets.changes.news import ticket_service
from tickets.changes.notifications import notify_followers
from tickets.history_codes import Kind
from tickets.models import Ticket, TicketFile, UnfinishedFile
from tickets.statuses import TERMINAL

CLOSED = gettext_noop("The ticket is closed to files.")
MOST_PER_TICKET = 50
# Unattached files per company.
MOST_UNATTACHED = 200


class NoSuchFile(LookupError):
    """Error for a file of the company that cannot be attached to the ticket."""

    def __init__(self, file_id: int) -> None:
        super().__init__(file_id)
        self.file_id = file_id


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """Examined file in the storage, without a row of its own."""

    name: str
    description: str
    media_type: str
    size: int
    sha256: str
    active: bool
    stored_as: str


@contextmanager
def store_content(content: bytes) -> Iterator[str]:
    """Write a file to the storage, and yield its name for a row to be inserted in the context.

    Removes a file that gets no row. If the process is killed, `remove_orphans` finds it by its
    UnfinishedFile. Holds no transaction.
    """
    name = storage.new_file_name()
    UnfinishedFile.objects.create(name=name, created_at=timezone.now())
    try:
        stored_as = storage.write_file(name, content)
        if stored_as != name:
            UnfinishedFile.objects.filter(name=name).update(name=stored_as)
            name = stored_as
        yield name
    finally:
        remove_unfinished(name)


def remove_unfinished(name: str) -> bool:
    """Remove an unfinished file from the storage; returns whether it was unfinished."""
    if not UnfinishedFile.objects.filter(name=name).exists():
        return False
    storage.remove_file(name)
    UnfinishedFile.objects.filter(name=name).delete()
    return True


def refuse_early(company: Company, ticket_id: int | None) -> None:
    """Raise the refusals of `add_file` that are known before the file is read."""
    if ticket_id is None:
        refuse_more_unattached(company)
    else:
        refuse_more(company.tickets.get(pk=ticket_id), 1)


def refuse_more(ticket: Ticket, number: int) -> None:
    if ticket.status in TERMINAL:
        raise FileRefused(gettext(CLOSED), code="ticket_closed")
    if ticket.files.count() + number > MOST_PER_TICKET:
        text = gettext("A ticket has at most %(most)d files.") % {"most": MOST_PER_TICKET}
        raise FileRefused(text, code="too_many_files")


def refuse_more_unattached(company: Company) -> None:
    if company.files.filter(ticket=None).count() >= MOST_UNATTACHED:
        raise FileRefused(
            f"{MOST_UNATTACHED} files wait to be attached. Attach some first.",
            code="too_many_files",
        )


@ticket_service
def add_file(
    company: Company,
    ticket_id: int,
    actor: Actor,
    new: NewFile,
    *,
    requested: int | str | None,
) -> TicketFile:
    """Add a file to the company's open ticket; `requested` is the document that it fulfils.

    Raises Ticket.DoesNotExist, FileRefused and NoSuchDocument.
    """
    ticket = company.tickets.hold(ticket_id)
    refuse_more(ticket, 1)
    file = keep_file(company, new)
    attach_held(ticket, actor, [file], requested)
    return file


@transaction.atomic
def keep_unattached(company: Company, new: NewFile) -> TicketFile:
    """Insert a file that its company will attach to a ticket later. Raises FileRefused."""
    Company.objects.select_for_update(no_key=True).get(pk=company.pk)
    refuse_more_unattached(company)
    return keep_file(company, new)


@ticket_service
def attach_files(
    company: Company,
    ticket_id: int,
    actor: Actor,
    file_ids: Sequence[int],
    *,
    requested: int | str | None,
) -> list[TicketFile]:
    """Attach unattached files to the company's open ticket: all of them, or none.

    Files that the ticket already has are left unchanged. Raises Ticket.DoesNotExist, NoSuchFile,
    FileRefused and NoSuchDocument.
    """
    ticket = company.tickets.hold(ticket_id)
    available = {
        file.pk: file
        for file in company.files.select_for_update(no_key=True, of=("self",))
        .filter(pk__in=file_ids, public=True)
        .order_by("pk")
        if file.ticket_id in (None, ticket.pk)
    }
    for file_id in file_ids:
        if file_id not in available:
            raise NoSuchFile(file_id)
    unattached = [file for file in available.values() if file.ticket_id is None]
    refuse_more(ticket, len(unattached))
    attach_held(ticket, actor, unattached, requested)
    return [available[file_id] for file_id in dict.fromkeys(file_ids)]


def keep_file(company: Company, new: NewFile) -> TicketFile:
    """Insert the row of a file in the storage, and delete its UnfinishedFile."""
    claimed, _ = UnfinishedFile.objects.filter(name=new.stored_as).delete()
    if not claimed:
        raise RuntimeError("the file was taken for an orphan")
    transaction.on_commit(lambda: doorbell.ring_job("make_thumbnails"))
    return TicketFile.objects.create(
        company=company,
        name=new.name,
        description=new.description,
        media_type=new.media_type,
        size=new.size,
        sha256=new.sha256,
        active=new.active,
        stored_as=new.stored_as,
        created_at=timezone.now(),
    )


def attach_held(
    ticket: Ticket, actor: Actor, files: Sequence[TicketFile], requested: int | str | None
) -> None:
    document = None if requested is None else find_requested(ticket, requested)
    for file in files:
        file.ticket, file.requested_document = ticket, document
        file.save(update_fields=["ticket", "requested_document"])
        facts = {
            "file": file.pk,
            "name": file.name,
            "sha256": file.sha256,
            "document": document and document.name,
        }
        record_history(ticket, actor, Kind.FILE_ADDED, data=facts)
    if files:
        ticket.updated_at = timezone.now()
        ticket.save(update_fields=["updated_at"])
        notify_followers(ticket, actor)
    if files and document:
        fulfil(ticket, document, actor)
