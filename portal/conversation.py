"""Conversation of a ticket as its company reads it: public messages and files, oldest first."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Left

from core.values.texts import is_blank, legible
from tickets.models import Comment, Ticket, TicketFile
from tickets.statuses import By

PAGE_SIZE = 30
MOST_FILES = 200
# Characters of a message; a longer one has a page of its own.
LONGEST = 6_000
# Files and a text that were sent at once, or nearly, are one message.
TOGETHER = timedelta(minutes=1)
# Id of what the company wrote when it opened the ticket.
OPENING = 0


@dataclass(slots=True)
class Message:
    key: str
    is_own: bool
    at: datetime
    text: str = ""
    # Comment whose text is shortened here.
    whole: int | None = None
    files: list[TicketFile] = field(default_factory=list)

    def joins(self, last: "Message") -> bool:
        is_near = self.is_own == last.is_own and self.at - last.at <= TOGETHER
        return is_near and not (self.text and last.text)


@dataclass(slots=True)
class Conversation:
    messages: list[Message]
    # First comment of this page, if there are earlier ones.
    earlier: int | None = None


def beginnings(comments: QuerySet[Comment]) -> QuerySet[Comment]:
    """Read `beginning` of long texts, with a character more than is shown."""
    return comments.defer("text").annotate(beginning=Left("text", LONGEST + 1))


def read_page(ticket: Ticket, before: int | None = None) -> Conversation:
    """Return the newest messages, or those before a comment; the ticket has its `beginning`."""
    comments = beginnings(ticket.conversation.filter(public=True)).order_by("-pk")
    files = ticket.files.filter(public=True).order_by("pk")
    if before is not None:
        comments = comments.filter(pk__lt=before)
        at = ticket.conversation.filter(pk=before).values_list("created_at", flat=True).first()
        files = files.filter(created_at__lt=at - TOGETHER) if at else files.none()
    newest = list(comments[: PAGE_SIZE + 1])
    page = newest[:PAGE_SIZE][::-1]
    earlier = page[0] if len(newest) > PAGE_SIZE else None
    messages = [message(one.pk, one.by == By.COMPANY, one.created_at, one) for one in page]
    if earlier is not None:
        files = files.filter(created_at__gte=earlier.created_at - TOGETHER)
    else:
        messages.append(message(OPENING, True, ticket.created_at, ticket))
    messages += [
        Message(f"f{one.pk}", one.by == By.COMPANY, one.created_at, files=[one])
        for one in files[:MOST_FILES]
    ]
    return Conversation(joined(messages), None if earlier is None else earlier.pk)


def message(comment: int, is_own: bool, at: datetime, row: Any) -> Message:
    is_whole = len(row.beginning) <= LONGEST
    text = "" if is_blank(row.beginning) else legible(row.beginning[:LONGEST])
    if not is_whole:
        text += "…"
    return Message(f"c{comment}", is_own, at, text, None if is_whole else comment)


def joined(messages: list[Message]) -> list[Message]:
    found: list[Message] = []
    for one in sorted(messages, key=lambda one: one.at):
        if found and one.joins(found[-1]):
            last = found[-1]
            last.files += one.files
            if one.text:
                last.key, last.text, last.whole = one.key, one.text, one.whole
        elif one.text or one.files:
            found.append(one)
    return found


def read_whole(ticket: Ticket, comment: int) -> Conversation:
    """Return one message with all of its text. Raises Comment.DoesNotExist."""
    if comment == OPENING:
        text, is_own, at = ticket.comments, True, ticket.created_at
    else:
        one = ticket.conversation.get(pk=comment, public=True)
        text, is_own, at = one.text, one.by == By.COMPANY, one.created_at
    return Conversation([Message(f"c{comment}", is_own, at, legible(text))])
