"""State of a ticket that a page had shown, and unread changes by others since (decision N18)."""

import re
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from tickets.changes.writes import StaleTicket
from tickets.history_codes import QUIET
from tickets.models import Comment, HistoryEntry, Ticket
from tickets.statuses import By

TOKEN = re.compile(r"([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,18})")
# Most unread comments, and most unread entries of history, that are listed.
MOST_UNREAD = 50

Unread = Comment | HistoryEntry


class PageToken(NamedTuple):
    """Last comment and entry of history of a ticket when a page was made.

    Both get their ids while the ticket is locked, so later changes have higher ones. Files have an
    entry too. As text it is the token in the page's forms.
    """

    ticket_id: int
    comment: int = 0
    entry: int = 0

    @classmethod
    def read(cls, token: str) -> "PageToken | None":
        """Parse a token; None if it is invalid."""
        match = TOKEN.fullmatch(token)
        return cls(*map(int, match.groups())) if match else None

    def __str__(self) -> str:
        return "-".join(map(str, self))


def with_page_token(tickets: QuerySet[Ticket]) -> QuerySet[Ticket]:
    """Annotate tickets with the state for `page_token_of`, as of the statement that reads them."""
    return tickets.annotate(
        last_comment=last_id(Comment.objects.all()), last_entry=last_id(worth_reading())
    )


def last_id(rows: "QuerySet[Any]") -> Coalesce:
    newest = rows.filter(ticket=OuterRef("pk")).order_by("-pk")
    return Coalesce(Subquery(newest.values("pk")[:1]), 0)


def worth_reading() -> "QuerySet[HistoryEntry]":
    return HistoryEntry.objects.exclude(kind__in=QUIET)


def page_token_of(ticket: Ticket) -> PageToken:
    """Return the state of a ticket, as its query read it where that used `with_page_token`.

    Read the contents of a page after this, so that the token never covers what it lacks.
    """
    if not hasattr(ticket, "last_comment"):
        ticket = with_page_token(Ticket.objects.all()).get(pk=ticket.pk)
    row: Any = ticket
    return PageToken(ticket.pk, row.last_comment, row.last_entry)


def unread_since(seen: PageToken, user: User) -> list[Unread]:
    """Return comments and entries by others since, the newest MOST_UNREAD of each, oldest first.

    The user's own changes from another page are not unread.
    """
    comments, entries = unread_rows(seen, user)
    rows: list[Unread] = [
        *entries.order_by("-pk")[:MOST_UNREAD][::-1],
        *comments.order_by("-pk")[:MOST_UNREAD][::-1],
    ]
    # The sort is stable: a move stays before the comment that came with it.
    return sorted(rows, key=lambda row: row.created_at)


def unread_rows(seen: PageToken, user: User) -> "tuple[QuerySet[Comment], QuerySet[HistoryEntry]]":
    """Return comments and entries since that are not by the user."""
    # Filter by role too, as a company's token may have the same name as a user.
    own = {"actor": user.get_username(), "by__in": [By.AGENT, By.LEAD]}
    comments = Comment.objects.filter(ticket=seen.ticket_id, pk__gt=seen.comment)
    entries = worth_reading().filter(ticket=seen.ticket_id, pk__gt=seen.entry)
    return comments.exclude(**own), entries.exclude(**own)


def require_read(ticket: Ticket, seen: PageToken | None, user: User) -> None:
    """Raise StaleTicket if a locked ticket has unread changes by others.

    `seen` is None for commands, which have no page.
    """
    if seen is None:
        return
    # Separate statements after the lock, so that they see what its last holder committed.
    if seen.ticket_id != ticket.pk or any(rows.exists() for rows in unread_rows(seen, user)):
        raise StaleTicket(gettext("There is something new on this ticket."))


def require_page_token(seen: PageToken | None) -> PageToken:
    """Return the state that a form has sent. Raises StaleTicket if there is none."""
    if seen is None:
        raise StaleTicket(
            gettext("The page was out of date. Read the ticket as it is now, then try again.")
        )
    return seen
