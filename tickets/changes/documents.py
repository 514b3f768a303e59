"""Documents that agents request from a company, and their fulfilment (decision N9)."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from core.values.texts import is_blank
from tickets.changes.actors import Actor
from tickets.changes.writes import change_status
from tickets.models import Comment, RequestedDocument, Ticket
from tickets.models.files import LONGEST_DOCUMENT_NAME
from tickets.statuses import REQUESTING, WAITING_FOR_COMPANY, By, Status, allows

MOST_DOCUMENTS = 30


class NoSuchDocument(LookupError):
    """Error for a document that was not requested on the ticket."""


class BadDocumentName(ValueError):
    """Invalid name of a requested document, or too many of them."""


def clean_document_names(names: Iterable[str]) -> list[str]:
    """Normalize whitespace, and drop blank and repeated names. Raises BadDocumentName."""
    clean = list(dict.fromkeys(" ".join(name.split()) for name in names if not is_blank(name)))
    if len(clean) > MOST_DOCUMENTS or any(len(name) > LONGEST_DOCUMENT_NAME for name in clean):
        text = gettext("At most %(most)d documents of %(longest)d characters each.")
        raise BadDocumentName(text % {"most": MOST_DOCUMENTS, "longest": LONGEST_DOCUMENT_NAME})
    if any("\x00" in name for name in clean):
        raise BadDocumentName(gettext("Null characters are not allowed."))
    return clean


def request_documents(ticket: Ticket, names: Sequence[str]) -> None:
    """Request documents on a locked ticket, except those with an open request."""
    waiting = set(open_requests(ticket).values_list("name", flat=True)) if names else set()
    now = timezone.now()
    RequestedDocument.objects.bulk_create(
        RequestedDocument(ticket=ticket, name=name, created_at=now)
        for name in dict.fromkeys(names)
        if name not in waiting
    )


def find_requested(ticket: Ticket, key: int | str) -> RequestedDocument:
    """Return the requested document of this id or exact name. Raises NoSuchDocument.

    Of several, the first unfulfilled one, else the last. Ids may be text; names take precedence.
    """
    documents: dict[int | str, RequestedDocument] = {}
    for one in ticket.requested_documents.order_by("pk"):
        documents[one.pk] = one
        if one.name not in documents or documents[one.name].fulfilled_at is not None:
            documents[one.name] = one
    if isinstance(key, str) and key not in documents and key.isascii() and key.isdecimal():
        key = int(key[:19])
    if key not in documents:
        raise NoSuchDocument(key)
    return documents[key]


def fulfil(ticket: Ticket, document: RequestedDocument, actor: Actor) -> None:
    """Mark a document of a locked ticket as fulfilled.

    The last one moves a ticket that waits for documents back to an agent.
    """
    if document.fulfilled_at is not None:
        return
    document.fulfilled_at = timezone.now()
    document.save(update_fields=["fulfilled_at"])
    status = Status(ticket.status)
    if status not in REQUESTING or not allows(status, Status.FOLLOW_UP, By.COMPANY):
        return
    if not open_requests(ticket).exists():
        change_status(ticket, Status.FOLLOW_UP, actor, data={"complete": True})


def open_requests(ticket: Ticket) -> Any:
    return RequestedDocument.objects.filter(ticket=ticket, fulfilled_at=None)


def waits_for_answer(ticket: Ticket) -> bool:
    """Return whether the ticket waits for its company, or an agent asked something last."""
    if ticket.status in WAITING_FOR_COMPANY:
        return True
    last = Comment.objects.filter(ticket=ticket.pk, public=True).order_by("-pk").first()
    return last is not None and last.by == By.AGENT and "?" in last.text
