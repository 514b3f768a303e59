"""Messages, notes and events of a ticket in one thread."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from desk.ticket import history_words
from tickets.history_codes import IN_THREAD
from tickets.models import Comment, HistoryEntry, RequestedDocument, Ticket
from tickets.models.automations import automation_named
from tickets.statuses import By

PAGE_SIZE = 50
MOST_HISTORY = 200


@dataclass(slots=True)
class Line:
    """One line of the thread: a message, a note or an event."""

    kind: str
    who: str
    at: datetime
    text: str = ""
    reason: str = ""
    was: int | None = None
    now: int | None = None
    new: bool = False
    # The divider stands above the first new line.
    first_new: bool = False
    comment_id: int | None = None
    entry_id: int | None = None
    # Names that a note mentions, as written; True for the viewer's own.
    mentioned: dict[str, bool] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Id of the line in the page, by which an open page knows which lines it has."""
        return f"e{self.entry_id}" if self.comment_id is None else f"c{self.comment_id}"


@dataclass(slots=True)
class Thread:
    """A page of lines, oldest first."""

    lines: list[Line] = field(default_factory=list)
    # Id of the page's first comment, if there are earlier ones.
    earlier: int | None = None
    later: bool = False

    @property
    def new(self) -> int:
        return sum(line.new for line in self.lines)


def history_of(ticket: Ticket) -> list[HistoryEntry]:
    """Return the newest MOST_HISTORY entries, oldest first."""
    return list(ticket.history.order_by("-pk")[:MOST_HISTORY])[::-1]


def thread(
    ticket: Ticket,
    history: Sequence[HistoryEntry],
    *,
    seen_at: datetime | None = None,
    viewer: str = "",
    before: int | None = None,
) -> Thread:
    """Return the newest PAGE_SIZE comments with the events between them.

    Reads only comments with ids below `before`. Others' lines after `seen_at` are marked as new.
    """
    comments = ticket.conversation.order_by("-pk")
    if before is not None:
        comments = comments.filter(pk__lt=before)
    newest = list(comments[: PAGE_SIZE + 1])
    page = newest[:PAGE_SIZE][::-1]
    result = Thread(later=before is not None)
    if len(newest) > PAGE_SIZE:
        result.earlier = page[0].pk
    since = page[0].created_at if result.earlier else None
    until = page[-1].created_at if result.later and page else None
    texts = {comment.text for comment in page}
    events = (
        event(entry, texts)
        for entry in history
        if is_in_thread(entry)
        and (since is None or entry.created_at >= since)
        and (until is None or entry.created_at <= until)
    )
    # The sort is stable: a move stands before the comment that came with it.
    result.lines = sorted([*events, *map(message, page)], key=lambda line: line.at)
    mark_new(result.lines, seen_at, viewer)
    return result


def message(comment: Comment) -> Line:
    kind = "company" if comment.by == By.COMPANY else "agent" if comment.public else "note"
    who = automation_named(comment.actor) or comment.actor
    return Line(kind, who, comment.created_at, comment.text, comment_id=comment.pk)


def event(entry: HistoryEntry, texts: set[str]) -> Line:
    """Build the line of a history entry: a move as its two statuses, others as a sentence.

    `texts` are those of the comments nearby: a reason that is among them is not repeated.
    """
    line = Line("event", history_words.mover_name(entry), entry.created_at, entry_id=entry.pk)
    reason = entry.reason
    line.reason = "" if reason in texts else reason
    if entry.was != entry.now:
        line.was, line.now = entry.was, entry.now
    else:
        line.text = history_words.sentence(entry)
    return line


def is_in_thread(entry: HistoryEntry) -> bool:
    """Check if the thread shows an entry: moves, assignments, and the kinds in IN_THREAD.

    The opening is left out: the thread begins with it.
    """
    moved = entry.was is not None and entry.was != entry.now
    return moved or "agent" in entry.data or entry.kind in IN_THREAD


def mark_new(lines: list[Line], seen_at: datetime | None, viewer: str) -> None:
    if seen_at is None:
        return
    for line in lines:
        line.new = line.at > seen_at and line.who != viewer
    for line in lines:
        if line.new:
            line.first_new = True
            return


def requested(
    history: Sequence[HistoryEntry],
    answered_at: datetime | None,
    documents: Sequence[RequestedDocument],
) -> list[dict[str, Any]]:
    """Return the requests for documents, latest first: which arrived, and if the company answered.

    `answered_at` is when the company last wrote.
    """
    latest = max(
        (entry.created_at for entry in history if entry.by == By.COMPANY), default=answered_at
    )
    last_word_at = max(filter(None, (latest, answered_at)), default=None)
    return [
        {
            "names": [(one, has_arrived(one, entry, documents)) for one in entry.data["requested"]],
            "at": entry.created_at,
            "who": entry.actor,
            "answered": is_answered(entry, last_word_at),
        }
        for entry in reversed(history)
        if entry.data.get("requested")
    ]


def is_answered(entry: HistoryEntry, last_word_at: datetime | None) -> bool:
    return last_word_at is not None and last_word_at > entry.created_at


def has_arrived(name: str, entry: HistoryEntry, documents: Sequence[RequestedDocument]) -> bool:
    """Check if a document that this entry requested arrived after it."""
    matching = [
        document
        for document in documents
        if document.name == name
        and (document.fulfilled_at is None or document.fulfilled_at > entry.created_at)
    ]
    return bool(matching) and matching[0].fulfilled_at is not None
