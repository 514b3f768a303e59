"""What others wrote and did on a ticket since a page showed it, in words (decision N18)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.http import QueryDict
from django.utils.translation import gettext

from desk.ticket import conversation, history_words
from tickets.changes.seen import MOST_UNREAD, Seen, seen_of, unread_since
from tickets.history_codes import Kind
from tickets.models import Comment, HistoryEntry, Ticket


class UnreadLine(NamedTuple):
    """One thing that somebody else wrote or did."""

    # company, agent, note, event or more: how it looks.
    kind: str
    who: str = ""
    at: datetime | None = None
    # Of an event, what happened.
    sentence: str = ""
    text: str = ""
    reason: str = ""
    details: Sequence[str] = ()


class ShownTicket(NamedTuple):
    """A ticket in a dialog: what its form carries, why it was refused, and what is unread."""

    ticket: Ticket
    seen: Seen
    refusal: str
    unread: list[UnreadLine]


def tokens_in(sent: QueryDict) -> dict[int, Seen]:
    """What the page that sent this had shown, by the tickets' ids."""
    found = (Seen.read(token) for token in sent.getlist("seen"))
    return {one.ticket_id: one for one in found if one is not None}


def lines_since(ticket: Ticket, seen: Seen | None, user: User) -> list[UnreadLine]:
    """What is unread on a ticket since, oldest first; nothing where it is not known since when."""
    if seen is None or seen == seen_of(ticket):
        return []
    found = unread_since(seen, user)
    said = {one.text for one in found if isinstance(one, Comment)}
    lines = [
        comment_line(one, ticket) if isinstance(one, Comment) else entry_line(one, ticket, said)
        for one in found
    ]
    return [UnreadLine("more"), *lines] if len(found) >= MOST_UNREAD else lines


def shown_tickets(
    tickets: Iterable[Ticket], sent: QueryDict, refused: dict[int, str] | None, user: User
) -> list[ShownTicket]:
    """Tickets for a dialog. One that was refused for want of a token is shown all there is."""
    had = tokens_in(sent)
    made = []
    for one in tickets:
        refusal = (refused or {}).get(one.pk, "")
        since = had.get(one.pk) or (Seen(one.pk) if refusal else None)
        made.append(ShownTicket(one, seen_of(one), refusal, lines_since(one, since, user)))
    return made


def comment_line(comment: Comment, ticket: Ticket) -> UnreadLine:
    line = conversation.message(comment)
    who = ticket.company.name if line.kind == "company" else line.who
    return UnreadLine(line.kind, who or gettext("An agent"), line.at, text=line.text)


def entry_line(entry: HistoryEntry, ticket: Ticket, said: set[str]) -> UnreadLine:
    """A reason that stands in a comment is not said twice."""
    line, token = history_words.line(entry), history_words.token_used(entry)
    return UnreadLine(
        "event",
        at=entry.created_at,
        sentence=line.sentence,
        text=ticket.comments if entry.kind == Kind.OPENED else "",
        reason="" if line.reason in said else line.reason,
        details=[detail for detail in line.details if detail not in token],
    )
