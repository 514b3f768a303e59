"""Retention of files: old contents are removed, and their rows stay.

As the storage has no transactions, removed names are first listed as unfinished files, so that a
job retries those that could not be removed (tickets.changes.file_upkeep).
"""

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.jobs.failing_rows import FailingRows
from tickets.changes.files import remove_unfinished
from tickets.models import TicketFile
from tickets.models.files import HAS_CONTENT
from tickets.statuses import TERMINAL

STEP = 500
# Checks the ticket again, as it may have been reopened meanwhile.
FORGET = """
WITH gone AS (
  SELECT file.id, stored_as, thumbnail FROM tickets_ticketfile AS file
  JOIN tickets_ticket AS ticket ON ticket.id = ticket_id AND ticket.status = ANY(%(decided)s)
    AND coalesce(ticket.decided_at, ticket.updated_at) < %(before)s
  WHERE file.id = ANY(%(keys)s) FOR NO KEY UPDATE OF file
), detach_contents AS (
  INSERT INTO tickets_unfinishedfile (name, created_at)
  SELECT name, %(now)s FROM gone, unnest(ARRAY[stored_as, thumbnail]) AS name
  WHERE name <> '' ON CONFLICT DO NOTHING
), blanked AS (
  UPDATE tickets_ticketfile AS file SET thumbnail = '', stored_as = 'forgotten/' || file.id
  FROM gone WHERE gone.id = file.id
)
SELECT name FROM gone, unnest(ARRAY[stored_as, thumbnail]) AS name WHERE name <> ''
"""


def forget_content(
    before: datetime,
    *,
    dry_run: bool = False,
    show: Callable[[str], None] = lambda text: None,
    most: float = math.inf,
) -> int:
    """Remove the contents of files whose ticket was decided before a time; returns their number.

    Stops after at least `most` files, and leaves the others to the next call.
    """
    removed, last = 0, 0
    decided = Coalesce(F("ticket__decided_at"), F("ticket__updated_at"))
    files: Any = TicketFile.objects.filter(HAS_CONTENT).annotate(decided=decided).order_by("pk")
    while removed < most:
        rows = list(
            files.filter(pk__gt=last).values_list("pk", "created_at", "decided", "ticket__status")[
                :STEP
            ]
        )
        # Ids are in the order of creation, so later rows are too recent as well.
        if not any(created_at < before for _, created_at, _, _ in rows):
            break
        last = rows[-1][0]
        keys = [
            key
            for key, created_at, at, status in rows
            if max(created_at, at) < before and status in TERMINAL
        ]
        if keys and not dry_run:
            remove_files(detach_contents(keys, before))
        removed += len(keys)
        show(f"files of decided tickets: {removed}")
    return removed


@transaction.atomic
def detach_contents(keys: list[int], before: datetime) -> list[str]:
    """Detach contents from their files, and return the names to remove from the storage."""
    values: dict[str, Any] = {
        "keys": keys,
        "before": before,
        "now": timezone.now(),
        "decided": [*TERMINAL],
    }
    with connection.cursor() as cursor:
        cursor.execute(FORGET, values)
        return [name for (name,) in cursor.fetchall()]


def remove_files(names: list[str]) -> None:
    rows = FailingRows("remove_orphans")
    for name in names:
        try:
            remove_unfinished(name)
        except Exception as error:  # each storage has its own exceptions
            rows.note("file", name, error)
