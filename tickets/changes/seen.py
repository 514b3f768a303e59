"""What a page had shown of a ticket, and what others wrote or did on it since (decision N18)."""

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
# Of comments, and of entries of history: as much as anybody reads before they send again.
MOST_UNREAD = 50

Unread = Comment | HistoryEntry


class Seen(NamedTuple):
    """A ticket, and the last comment and entry of history that there were when it was shown.

    Both get their ids while the ticket is held: whatever is committed later has a higher one. A
    file has an entry too. As text it is the token that forms carry.
    """

    ticket_id: int
    comment: int = 0
    entry: int = 0

    @classmethod
    def read(cls, token: str) -> "Seen | None":
        """None for a text that is no token."""
        found = TOKEN.fullmatch(token)
        return cls(*map(int, found.groups())) if found else None

    def __str__(self) -> str:
        return "-".join(map(str, self))


def with_seen(tickets: QuerySet[Ticket]) -> QuerySet[Ticket]:
    """The tickets with what `seen_of` tells, as of the statement that reads them."""
    return tickets.annotate(
        last_comment=last_id(Comment.objects.all()), last_entry=last_id(worth_reading())
    )


def last_id(rows: "QuerySet[Any]") -> Coalesce:
    newest = rows.filter(ticket=OuterRef("pk")).order_by("-pk")
    return Coalesce(Subquery(newest.values("pk")[:1]), 0)


def worth_reading() -> "QuerySet[HistoryEntry]":
    return HistoryEntry.objects.exclude(kind__in=QUIET)


def seen_of(ticket: Ticket) -> Seen:
    """What there is to see of a ticket; of one read by `with_seen`, what there was then.

    What is shown must be read no earlier than this.
    """
    if not hasattr(ticket, "last_comment"):
        ticket = with_seen(Ticket.objects.all()).get(pk=ticket.pk)
    known: Any = ticket
    return Seen(ticket.pk, known.last_comment, known.last_entry)


def unread_since(seen: Seen, user: User) -> list[Unread]:
    """What others wrote and did on a ticket since, the newest MOST_UNREAD of each, oldest first.

    What the user did from another page is not unread.
    """
    comments, entries = unread_rows(seen, user)
    found: list[Unread] = [
        *entries.order_by("-pk")[:MOST_UNREAD][::-1],
        *comments.order_by("-pk")[:MOST_UNREAD][::-1],
    ]
    # Sorted is stable: a move stands before the words that came with it.
    return sorted(found, key=lambda one: one.created_at)


def unread_rows(seen: Seen, user: User) -> "tuple[QuerySet[Comment], QuerySet[HistoryEntry]]":
    """A company's token may be called what a user is called."""
    own = {"actor": user.get_username(), "by__in": [By.AGENT, By.LEAD]}
    comments = Comment.objects.filter(ticket=seen.ticket_id, pk__gt=seen.comment)
    entries = worth_reading().filter(ticket=seen.ticket_id, pk__gt=seen.entry)
    return comments.exclude(**own), entries.exclude(**own)


def require_read(ticket: Ticket, seen: Seen | None, user: User) -> None:
    """Of a ticket that the caller holds: nothing that others did may be unread.

    None is for commands, which have no page. Raises StaleTicket.
    """
    if seen is None:
        return
    # Asked after the lock, in statements of their own: they see what its last holder committed.
    if seen.ticket_id != ticket.pk or any(rows.exists() for rows in unread_rows(seen, user)):
        raise StaleTicket(gettext("There is something new on this ticket."))


def require_seen(seen: Seen | None) -> Seen:
    """What a form must carry. Raises StaleTicket."""
    if seen is None:
        raise StaleTicket(
            gettext("The page was out of date. Read the ticket as it is now, then try again.")
        )
    return seen
