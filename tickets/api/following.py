"""List of tickets in the order of change, for companies that keep a copy of all of them.

A change gets its time before it is committed, so one that is committed late may be older than
changes that a company has already read. The list therefore ends before the start of the oldest
transaction that may still commit such a change (decision N13).
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Q

from tickets.models.tickets import TicketQuerySet

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# A transaction that has written has an id. One without an id may still write, unless it is older
# than our longest wait.
SETTLED = """
SELECT least(clock_timestamp(), min(xact_start)) - interval '2 seconds' FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
  AND (backend_xid IS NOT NULL OR xact_start > clock_timestamp() - interval '1 minute')
"""


class BadPosition(ValueError):
    """Invalid cursor of a list in the order of change."""


def settled_until() -> datetime:
    """Return the time before which no more changes can appear.

    Includes two seconds for clock differences of hosts. Call it before reading the list.
    """
    with connection.cursor() as cursor:
        cursor.execute(SETTLED)
        until: datetime = cursor.fetchone()[0]
        return until


def changed_since(
    tickets: TicketQuerySet, since: datetime, position: tuple[datetime, int] | None
) -> TicketQuerySet:
    """Filter tickets changed since a time and after a position, the oldest change first."""
    tickets = tickets.filter(updated_at__gte=since, updated_at__lt=settled_until())
    if position is not None:
        at, ticket_id = position
        tickets = tickets.filter(Q(updated_at__gt=at) | Q(pk__gt=ticket_id), updated_at__gte=at)
    return tickets.order_by("updated_at", "pk")


def format_position(ticket_id: int, changed_at: datetime) -> str:
    return f"{microseconds(changed_at)}-{ticket_id}"


def start_position(since: datetime) -> str:
    """Return the cursor to continue from if there are no changes yet."""
    return f"{microseconds(since)}-0"


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


def parse_position(text: str) -> tuple[datetime, int]:
    """Parse a cursor into a time of change and a ticket id. Raises BadPosition."""
    at, _, ticket_id = text.partition("-")
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in (at, ticket_id)):
        raise BadPosition("Send the next_cursor of an answer to updated_since.")
    try:
        return EPOCH + timedelta(microseconds=int(at)), int(ticket_id)
    except OverflowError as error:
        raise BadPosition("Send the next_cursor of an answer to updated_since.") from error


def next_changes(tickets: TicketQuerySet, query: dict[str, Any]) -> dict[int, str]:
    """Return the cursors of the next changed tickets by their id, in the order of change."""
    cursor = query.get("cursor")
    position = parse_position(cursor) if cursor else None
    changed = changed_since(tickets, query["updated_since"], position)
    page = changed.values_list("pk", "updated_at")[: query["limit"]]
    return {ticket: format_position(ticket, at) for ticket, at in page}
