"""Late updates of search entries, which a trigger writes otherwise.

Tickets whose shipment the platform names later get its tracking number.
"""

from collections.abc import Sequence

from django.db import connection

from core.jobs.failing_rows import FailingRows
from tickets.models import SearchEntry, Ticket

TASK = "add_known_shipments"
# Tickets with an unknown shipment that a run examines, and the most that it writes.
MOST_UNKNOWN, MOST_AT_ONCE = 20_000, 1_000

WRITE = "SELECT tickets_write_search_entries(%s)"
KNOWN_NOW = """
SELECT ticket.id FROM (
  SELECT ticket_id FROM tickets_searchentry WHERE tracking IS NULL ORDER BY ticket_id DESC LIMIT %s
) AS entry
JOIN tickets_ticket ticket ON ticket.id = entry.ticket_id
JOIN shipments_shipment parcel
  ON parcel.id = ticket.shipment_id AND parcel.company_id = ticket.company_id
ORDER BY ticket.id LIMIT %s
"""


def add_known_shipments() -> int:
    """Rewrite entries whose shipment has become known; returns their number."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_NOW, [MOST_UNKNOWN, MOST_AT_ONCE])
        ids = [ticket_id for (ticket_id,) in cursor.fetchall()]
    return FailingRows(TASK).do("ticket", ids, write_anew) if ids else 0


def write_anew(ids: Sequence[int]) -> None:
    # Locked, so that no ticket changes between reading and writing it.
    tickets = Ticket.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
    ids = list(tickets.values_list("pk", flat=True))
    SearchEntry.objects.filter(pk__in=ids).delete()
    write_entries(ids)


def write_entries(ids: Sequence[int]) -> None:
    """Write entries for those of the tickets that have none."""
    with connection.cursor() as cursor:
        cursor.execute(WRITE, [list(ids)])
