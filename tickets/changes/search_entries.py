"""What tickets are found by is written by a trigger; this writes what it could not know of.

Tickets that were there before the trigger get their entry in steps, the newest first: each step is
a transaction of its own, and a row says how far it has come. Tickets whose shipment the platform
names later get its tracking number.
"""

from collections.abc import Callable, Sequence

from django.db import connection, transaction

from companies.failing_rows import FailingRows
from tickets.models import SearchEntry, SearchFill, Ticket

TASK = "fill_search"
# Tickets of a step: a few tenths of a second.
STEP = 1_000
# Steps of a run, so that other tasks have their turn.
MOST_STEPS = 20
# Tickets whose shipment is unknown that a run looks at, and those of them that it writes.
MOST_UNKNOWN = 20_000
MOST_AT_ONCE = MOST_STEPS * STEP

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

Show = Callable[[int], None]


def count_left() -> int:
    """The highest id whose ticket may have no entry yet; 0 when all have."""
    fill = SearchFill.objects.first()
    return fill.left_up_to if fill else 0


def fill_some() -> int:
    """Write entries of older tickets, and of those whose shipment is known by now; returns how many
    tickets were looked at. Several may run at a time.
    """
    rows, looked_at = FailingRows(TASK), 0
    for _ in range(MOST_STEPS):
        if not (step := fill_step(rows)):
            break
        looked_at += step
    return looked_at or add_known_shipments(rows)


def fill_all(show: Show) -> None:
    """All of them; `show` hears up to which id some are left."""
    rows = FailingRows(TASK)
    while fill_step(rows):
        show(count_left())
    while add_known_shipments(rows):
        pass


@transaction.atomic
def fill_step(rows: FailingRows) -> int:
    """Write the entries of the next STEP ids downwards; returns how many ids that were.

    A ticket that fails has its entry written when it changes.
    """
    fill = SearchFill.objects.select_for_update().first()
    if fill is None or fill.left_up_to <= 0:
        return 0
    last = fill.left_up_to
    fill.left_up_to = max(last - STEP, 0)
    # A ticket that changes meanwhile writes its own entry, which is newer: that one stays.
    rows.do("ticket", range(fill.left_up_to + 1, last + 1), write_entries)
    fill.save(update_fields=["left_up_to"])
    return last - fill.left_up_to


def add_known_shipments(rows: FailingRows) -> int:
    """Write entries anew whose shipment was unknown and is not any more; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_NOW, [MOST_UNKNOWN, STEP])
        ids = [ticket_id for (ticket_id,) in cursor.fetchall()]
    return rows.do("ticket", ids, write_anew) if ids else 0


def write_anew(ids: Sequence[int]) -> None:
    # So that none changes between what is read and what is written.
    held = Ticket.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")
    ids = list(held.values_list("pk", flat=True))
    SearchEntry.objects.filter(pk__in=ids).delete()
    write_entries(ids)


def write_entries(ids: Sequence[int]) -> None:
    """Write the entries of those of these tickets that have none."""
    with connection.cursor() as cursor:
        cursor.execute(WRITE, [list(ids)])
