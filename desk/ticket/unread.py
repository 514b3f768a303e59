"""Changes that others made to a ticket since a page showed it, in words (decision N18)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.http import QueryDict
from django.utils.translation import gettext

from desk.ticket import conversation, history_words
from tickets.changes.page_tokens import MOST_UNREAD, PageToken, page_token_of, unread_since
from tickets.history_codes import Kind
from tickets.models import Comment, HistoryEntry, Ticket


class UnreadLine(NamedTuple):
    """One message, note or event of somebody else."""

    # One of company, agent, note, event, more: decides how the line looks.
    kind: str
    who: str = ""
    at: datetime | None = None
    # Describes an event; "" for messages and notes.
    sentence: str = ""
    text: str = ""
    reason: str = ""
    details: Sequence[str] = ()


class ShownTicket(NamedTuple):
    """A ticket in a dialog: the token for its form, why it was refused, and what is unread."""

    ticket: Ticket
    seen: PageToken
    refusal: str
    unread: list[UnreadLine]


def tokens_in(query: QueryDict) -> dict[int, PageToken]:
    """Read the tokens that the page sent, by ticket id; invalid ones are left out."""
    tokens = (PageToken.read(text) for text in query.getlist("seen"))
    return {token.ticket_id: token for token in tokens if token is not None}


def lines_since(ticket: Ticket, token: PageToken | None, user: User) -> list[UnreadLine]:
    """Return what is unread since the page with this token, oldest first; empty without one."""
    if token is None or token == page_token_of(ticket):
        return []
    rows = unread_since(token, user)
    texts = {row.text for row in rows if isinstance(row, Comment)}
    lines = [
        comment_line(row, ticket) if isinstance(row, Comment) else entry_line(row, ticket, texts)
        for row in rows
    ]
    return [UnreadLine("more"), *lines] if len(rows) >= MOST_UNREAD else lines


def shown_tickets(
    tickets: Iterable[Ticket], query: QueryDict, refused: dict[int, str] | None, user: User
) -> list[ShownTicket]:
    """Prepare tickets for a dialog; all of one that was refused for lack of a token is unread."""
    tokens = tokens_in(query)
    rows = []
    for ticket in tickets:
        refusal = (refused or {}).get(ticket.pk, "")
        since = tokens.get(ticket.pk) or (PageToken(ticket.pk) if refusal else None)
        unread = lines_since(ticket, since, user)
        rows.append(ShownTicket(ticket, page_token_of(ticket), refusal, unread))
    return rows


def comment_line(comment: Comment, ticket: Ticket) -> UnreadLine:
    line = conversation.message(comment)
    who = ticket.company.name if line.kind == "company" else line.who
    return UnreadLine(line.kind, who or gettext("An agent"), line.at, text=line.text)


def entry_line(entry: HistoryEntry, ticket: Ticket, texts: set[str]) -> UnreadLine:
    """Build the line of an entry; a reason that is among `texts` is not repeated."""
    line, token = history_words.line(entry), history_words.token_used(entry)
    return UnreadLine(
        "event",
        at=entry.created_at,
        sentence=line.sentence,
        text=ticket.comments if entry.kind == Kind.OPENED else "",
        reason="" if line.reason in texts else line.reason,
        details=[detail for detail in line.details if detail not in token],
    )
