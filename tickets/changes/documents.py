"""What agents ask a company for, and when it has come (decision N9)."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from core.values.texts import is_blank
from tickets.changes.actors import Actor
from tickets.changes.writes import change_status
from tickets.models import Comment, RequestedDocument, Ticket
from tickets.models.files import LONGEST_DOCUMENT_NAME
from tickets.statuses import ASKING, By, Status, allows

MOST_DOCUMENTS = 30


class NoSuchDocument(LookupError):
    """Nothing of this name or id was requested on the ticket."""


class BadDocumentName(ValueError):
    """Nobody could send a document of this name, or of so many; the message says why."""


def clean_document_names(names: Iterable[str]) -> list[str]:
    """The names without spare space, each once, blank ones left out. Raises BadDocumentName."""
    found = list(dict.fromkeys(" ".join(name.split()) for name in names if not is_blank(name)))
    if len(found) > MOST_DOCUMENTS or any(len(name) > LONGEST_DOCUMENT_NAME for name in found):
        text = gettext("At most %(most)d documents of %(longest)d characters each.")
        raise BadDocumentName(text % {"most": MOST_DOCUMENTS, "longest": LONGEST_DOCUMENT_NAME})
    if any("\x00" in name for name in found):
        raise BadDocumentName(gettext("Null characters are not allowed."))
    return found


def request_documents(ticket: Ticket, names: Sequence[str]) -> None:
    """Ask for these on a ticket that the caller holds. What is asked for already is not doubled."""
    waiting = set(open_requests(ticket).values_list("name", flat=True)) if names else set()
    now = timezone.now()
    RequestedDocument.objects.bulk_create(
        RequestedDocument(ticket=ticket, name=name, created_at=now)
        for name in dict.fromkeys(names)
        if name not in waiting
    )


def find_requested(ticket: Ticket, named: int | str) -> RequestedDocument:
    """The document of this id or exact name; of several the one that has not come yet, else the
    last. A form sends an id as text: a name that looks like it goes first. Raises NoSuchDocument.
    """
    found: dict[int | str, RequestedDocument] = {}
    for one in ticket.requested_documents.order_by("pk"):
        found[one.pk] = one
        if one.name not in found or found[one.name].fulfilled_at is not None:
            found[one.name] = one
    if isinstance(named, str) and named not in found and named.isascii() and named.isdecimal():
        named = int(named[:19])
    if named not in found:
        raise NoSuchDocument(named)
    return found[named]


def fulfil(ticket: Ticket, document: RequestedDocument, actor: Actor) -> None:
    """Note that a document has come, on a ticket that the caller holds.

    With the last of them the ticket goes back to an agent by itself, where it waits for them.
    """
    if document.fulfilled_at is not None:
        return
    document.fulfilled_at = timezone.now()
    document.save(update_fields=["fulfilled_at"])
    status = Status(ticket.status)
    if status not in ASKING or not allows(status, Status.FOLLOW_UP, By.COMPANY):
        return
    if not open_requests(ticket).exists():
        change_status(ticket, Status.FOLLOW_UP, actor, data={"complete": True})


def open_requests(ticket: Ticket) -> Any:
    return RequestedDocument.objects.filter(ticket=ticket, fulfilled_at=None)


def waits_for_answer(ticket: Ticket) -> bool:
    """Tell if the ticket is Incomplete, or an agent's question is the last that was written."""
    if ticket.status == Status.INCOMPLETE:
        return True
    last = Comment.objects.filter(ticket=ticket.pk, public=True).order_by("-pk").first()
    return last is not None and last.by == By.AGENT and "?" in last.text
