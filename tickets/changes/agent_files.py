"""Files that agents add to a ticket: for the company with a reply, for agents with a note."""

from collections.abc import Sequence

from django.utils import translation
from django.utils.translation import gettext

from core.files.refusals import FileRefused
from tickets.changes.actors import Actor
from tickets.changes.files import MOST_PER_TICKET, NewFile, keep_file
from tickets.changes.history import record_history
from tickets.history_codes import Kind
from tickets.models import Ticket
from tickets.statuses import By

# Files per reply or note.
MOST_AT_ONCE = 5


def text_with_files(ticket: Ticket, text: str, files: Sequence[NewFile], *, public: bool) -> str:
    """Append the names of attached files to a text, in the reader's language."""
    if not files:
        return text
    names = [f"- {one.name}" for one in files]
    if not public:
        return "\n".join([*filter(None, [text]), gettext("Attached:"), *names])
    with translation.override(ticket.company.written_language):
        attached = gettext("Attached:")
    return "\n".join([*filter(None, [text]), attached, *names])


def attach_agent_files(
    ticket: Ticket, actor: Actor, files: Sequence[NewFile], *, public: bool
) -> None:
    """Add files to a locked ticket, even a decided one. Raises FileRefused."""
    if not files:
        return
    if ticket.files.count() + len(files) > MOST_PER_TICKET:
        text = gettext("A ticket has at most %(most)d files.") % {"most": MOST_PER_TICKET}
        raise FileRefused(text, code="too_many_files")
    for new in files:
        file = keep_file(ticket.company, new)
        file.ticket, file.by, file.actor, file.public = ticket, By.AGENT, actor.name, public
        file.save(update_fields=["ticket", "by", "actor", "public"])
        facts = {"file": file.pk, "name": file.name, "sha256": file.sha256, "document": None}
        record_history(ticket, actor, Kind.FILE_ADDED, data={**facts, "for_company": public})
