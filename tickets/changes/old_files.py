"""Retention of files: after a while the content goes; the row stays, and says what there was.

A storage has no transactions: names that no row has any more wait among the unfinished files, where
another task finds them that we could not remove (tickets.changes.kept_files).
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
# The ticket may have been opened again meanwhile.
FORGET = """
WITH gone AS (
  SELECT file.id, stored_as, thumbnail FROM tickets_ticketfile AS file
  JOIN tickets_ticket AS ticket ON ticket.id = ticket_id AND ticket.status = ANY(%(decided)s)
    AND coalesce(ticket.decided_at, ticket.updated_at) < %(before)s
  WHERE file.id = ANY(%(keys)s) FOR NO KEY UPDATE OF file
), let_go AS (
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
    """Forget the content of files whose ticket was decided before a time, and is; returns how many.

    Having forgotten `most` or more it leaves the others to the next call.
    """
    forgotten, last = 0, 0
    decided = Coalesce(F("ticket__decided_at"), F("ticket__updated_at"))
    held: Any = TicketFile.objects.filter(HAS_CONTENT).annotate(decided=decided).order_by("pk")
    while forgotten < most:
        found = list(
            held.filter(pk__gt=last).values_list("pk", "created_at", "decided", "ticket__status")[
                :STEP
            ]
        )
        # Ids follow times, and what came later goes later.
        if not any(created_at < before for _, created_at, _, _ in found):
            break
        last = found[-1][0]
        keys = [
            key
            for key, created_at, at, status in found
            if max(created_at, at) < before and status in TERMINAL
        ]
        if keys and not dry_run:
            remove_files(let_go(keys, before))
        forgotten += len(keys)
        show(f"files of decided tickets: {forgotten}")
    return forgotten


@transaction.atomic
def let_go(keys: list[int], before: datetime) -> list[str]:
    """The names in the storage that have nobody from now on."""
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
        except Exception as error:  # each storage has its own
            rows.note("file", name, error)
