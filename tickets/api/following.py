"""A list in the order of change, for companies that keep a copy: nothing is passed over.

A ticket gets the time of its change before the change can be seen. One that is committed late has
an earlier time than what others may have read by then. So the list ends before the beginning of
the oldest transaction that may still bring such a change (decision N13).
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Q

from tickets.models.tickets import TicketQuerySet

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# A transaction that has written has an id. One without may be about to write; none that is older
# than the longest wait of ours is.
SETTLED = """
SELECT least(clock_timestamp(), min(xact_start)) - interval '2 seconds' FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
  AND (backend_xid IS NOT NULL OR xact_start > clock_timestamp() - interval '1 minute')
"""


class BadPlace(ValueError):
    """The text is not a cursor of a list in the order of change."""


def settled_until() -> datetime:
    """No ticket will turn up any more whose last change was before that.

    Two seconds are left for clocks of hosts that differ. Ask before the list is read.
    """
    with connection.cursor() as cursor:
        cursor.execute(SETTLED)
        until: datetime = cursor.fetchone()[0]
        return until


def changed_since(
    found: TicketQuerySet, since: datetime, place: tuple[datetime, int] | None
) -> TicketQuerySet:
    """Those changed from a time on, or behind a place; the oldest change first."""
    found = found.filter(updated_at__gte=since, updated_at__lt=settled_until())
    if place is not None:
        at, ticket_id = place
        found = found.filter(Q(updated_at__gt=at) | Q(pk__gt=ticket_id), updated_at__gte=at)
    return found.order_by("updated_at", "pk")


def place_of(ticket_id: int, changed_at: datetime) -> str:
    return f"{microseconds(changed_at)}-{ticket_id}"


def place_before(since: datetime) -> str:
    """The place from which to go on where nothing has been found yet."""
    return f"{microseconds(since)}-0"


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


def read_place(text: str) -> tuple[datetime, int]:
    """Raises BadPlace."""
    at, _, ticket_id = text.partition("-")
    if not all(each.isascii() and each.isdigit() and len(each) < 19 for each in (at, ticket_id)):
        raise BadPlace("Send the next_cursor of an answer to updated_since.")
    try:
        return EPOCH + timedelta(microseconds=int(at)), int(ticket_id)
    except OverflowError as error:
        raise BadPlace("Send the next_cursor of an answer to updated_since.") from error


def change_places(found: TicketQuerySet, query: dict[str, Any]) -> dict[int, str]:
    """The tickets of the next changes, and where each lies in the order of change."""
    cursor = query.get("cursor")
    place = read_place(cursor) if cursor else None
    changed = changed_since(found, query["updated_since"], place)
    found_at = changed.values_list("pk", "updated_at")[: query["limit"]]
    return {ticket: place_of(ticket, at) for ticket, at in found_at}
