"""What was said and done on a ticket, in one thread."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from desk.ticket import history_words
from tickets.history_codes import IN_THREAD
from tickets.models import Comment, HistoryEntry, RequestedDocument, Ticket
from tickets.models.automations import automation_named
from tickets.statuses import By

SHOWN = 50
MOST_HISTORY = 200


@dataclass(slots=True)
class Line:
    """One thing in the thread: a message, a note or an event."""

    kind: str
    who: str
    at: datetime
    text: str = ""
    reason: str = ""
    was: int | None = None
    now: int | None = None
    new: bool = False
    # The first of what is new: the divider stands above it.
    first_new: bool = False
    comment_id: int | None = None
    entry_id: int | None = None
    # Whom a note names, as written, and whether that is the viewer.
    mentioned: dict[str, bool] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Names it on the page: by this a page that is open knows what it has."""
        return f"e{self.entry_id}" if self.comment_id is None else f"c{self.comment_id}"


@dataclass(slots=True)
class Thread:
    """The newest lines, oldest first, and where the earlier ones begin."""

    lines: list[Line] = field(default_factory=list)
    earlier: int | None = None
    later: bool = False

    @property
    def new(self) -> int:
        return sum(line.new for line in self.lines)


def history_of(ticket: Ticket) -> list[HistoryEntry]:
    """The newest entries, oldest first."""
    return list(ticket.history.order_by("-pk")[:MOST_HISTORY])[::-1]


def thread(
    ticket: Ticket,
    history: Sequence[HistoryEntry],
    *,
    seen_at: datetime | None = None,
    viewer: str = "",
    before: int | None = None,
) -> Thread:
    """The newest SHOWN comments (of those before one) with the moves between them.

    New is what others did after `seen_at`.
    """
    comments = ticket.conversation.order_by("-pk")
    if before is not None:
        comments = comments.filter(pk__lt=before)
    found = list(comments[: SHOWN + 1])
    shown = found[:SHOWN][::-1]
    made = Thread(later=before is not None)
    if len(found) > SHOWN:
        made.earlier = shown[0].pk
    since = shown[0].created_at if made.earlier else None
    until = shown[-1].created_at if made.later and shown else None
    said = {comment.text for comment in shown}
    events = (
        event(entry, said)
        for entry in history
        if worth_telling(entry)
        and (since is None or entry.created_at >= since)
        and (until is None or entry.created_at <= until)
    )
    # Sorted is stable: a move stands before the words that came with it.
    made.lines = sorted([*events, *map(message, shown)], key=lambda line: line.at)
    mark_new(made.lines, seen_at, viewer)
    return made


def message(comment: Comment) -> Line:
    kind = "company" if comment.by == By.COMPANY else "agent" if comment.public else "note"
    who = automation_named(comment.actor) or comment.actor
    return Line(kind, who, comment.created_at, comment.text, comment_id=comment.pk)


def event(entry: HistoryEntry, said: set[str]) -> Line:
    """A move, as its two statuses; anything else as a sentence.

    A reason that stands in a comment is not said twice.
    """
    line = Line("event", history_words.mover_name(entry), entry.created_at, entry_id=entry.pk)
    reason = entry.reason
    line.reason = "" if reason in said else reason
    if entry.was != entry.now:
        line.was, line.now = entry.was, entry.now
    else:
        line.text = history_words.sentence(entry)
    return line


def worth_telling(entry: HistoryEntry) -> bool:
    """Moves, files, appeals, and who has the ticket; the opening is the thread's beginning."""
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
    """The documents asked for, the latest request first: which have come, and whether an answer
    came since.

    `answered_at` is when the company last wrote.
    """
    latest = max(
        (entry.created_at for entry in history if entry.by == By.COMPANY), default=answered_at
    )
    heard = max(filter(None, (latest, answered_at)), default=None)
    return [
        {
            "names": [(name, has_come(name, entry, documents)) for name in entry.data["requested"]],
            "at": entry.created_at,
            "who": entry.actor,
            "answered": answered(entry, heard),
        }
        for entry in reversed(history)
        if entry.data.get("requested")
    ]


def answered(entry: HistoryEntry, heard: datetime | None) -> bool:
    return heard is not None and heard > entry.created_at


def has_come(name: str, entry: HistoryEntry, documents: Sequence[RequestedDocument]) -> bool:
    """Whether a document came that was still, or again, asked for by this entry."""
    asked = [
        one
        for one in documents
        if one.name == name and (one.fulfilled_at is None or one.fulfilled_at > entry.created_at)
    ]
    return bool(asked) and asked[0].fulfilled_at is not None
