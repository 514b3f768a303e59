"""Conversation of a ticket as its company reads it: public messages and files, oldest first."""

import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Left

from core.values.texts import is_blank
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
    is_own: bool
    at: datetime
    text: str = ""
    # Id of the comment with this text, and whether it is shortened here.
    comment: int | None = None
    is_cut: bool = False
    files: list[TicketFile] = field(default_factory=list)


def beginnings(comments: QuerySet[Comment]) -> QuerySet[Comment]:
    """Read `beginning` of long texts, with a character more than is shown."""
    return comments.defer("text").annotate(beginning=Left("text", LONGEST + 1))


def read_page(ticket: Any, before: int | None = None) -> tuple[list[Message], int | None]:
    """Return the newest messages, or those before a comment, and the first if there are earlier.

    The ticket has its `beginning`.
    """
    comments = beginnings(ticket.conversation.filter(public=True)).order_by("-pk")
    files = ticket.files.filter(public=True).order_by("pk")
    if before is not None:
        comments = comments.filter(pk__lt=before)
        at = ticket.conversation.filter(pk=before).values_list("created_at", flat=True).first()
        files = files.filter(created_at__lt=at - TOGETHER) if at else files.none()
    newest: list[Any] = list(comments[: PAGE_SIZE + 1])
    page = newest[:PAGE_SIZE][::-1]
    messages = [message(one, one.beginning) for one in page]
    if has_earlier := len(newest) > PAGE_SIZE:
        files = files.filter(created_at__gte=page[0].created_at - TOGETHER)
    else:
        messages.append(message(ticket, ticket.beginning))
    messages += [
        Message(one.by == By.COMPANY, one.created_at, files=[one]) for one in files[:MOST_FILES]
    ]
    return joined(messages), page[0].pk if has_earlier else None


def read_whole(ticket: Ticket, comment: int) -> list[Message]:
    """Return one message with all of its text. Raises Comment.DoesNotExist."""
    if comment == OPENING:
        return [message(ticket, ticket.comments, sys.maxsize)]
    one = ticket.conversation.get(pk=comment, public=True)
    return [message(one, one.text, sys.maxsize)]


def message(row: Ticket | Comment, text: str, longest: int = LONGEST) -> Message:
    comment = row if isinstance(row, Comment) else None
    return Message(
        comment is None or comment.by == By.COMPANY,
        row.created_at,
        "" if is_blank(text) else text[:longest],
        comment.pk if comment else OPENING,
        len(text) > longest,
    )


def joined(messages: list[Message]) -> list[Message]:
    found: list[Message] = []
    for one in sorted(messages, key=lambda one: one.at):
        last = found[-1] if found else one
        is_near = one.is_own == last.is_own and one.at - last.at <= TOGETHER
        if found and is_near and not (one.text and last.text):
            last.files += one.files
            if one.text:
                last.text, last.comment, last.is_cut = one.text, one.comment, one.is_cut
        elif one.text or one.files:
            found.append(one)
    return found
