"""Anonymising tickets: what people wrote, names and files go; the skeleton stays.

As when a company is erased (tickets.changes.erasable), for some of its tickets, which must be
decided. What was told of them goes too: what waits to be sent is cancelled, what was sent is
blanked. All of it may be done again at any time.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db import connection, transaction

from companies import erasing
from deliveries.upkeep.erasable import (
    blank_attempts,
    blank_events,
    cancel_some,
    walk_events,
    walk_log,
    walk_waiting,
)
from tickets.changes.erasable import blank_tickets, remove_erased_files
from tickets.models import Ticket
from tickets.statuses import TERMINAL

STEP = 100
TOLD = "SELECT id FROM deliveries_event WHERE id = ANY(%(keys)s) AND ticket_id = ANY(%(of)s)"
ABOUT = """
SELECT id::text FROM deliveries_delivery
WHERE id = ANY(%(keys)s::uuid[]) AND event_id = ANY(%(of)s)
"""
LOG = """
UPDATE django_admin_log SET object_repr = '', change_message = ''
WHERE object_id = ANY(%(keys)s::text[]) AND content_type_id = (
  SELECT id FROM django_content_type WHERE (app_label, model) = ('tickets', 'ticket'))
"""


class NotDecided(ValueError):
    """A ticket is open, or there is none; the message says which."""


def decided_long_ago(company_id: int, before: datetime) -> list[int]:
    """The ids of those of a company that were decided before a time, and are."""
    decided = Ticket.objects.filter(company_id=company_id, status__in=TERMINAL)
    return list(decided.filter(decided_at__lt=before).order_by("pk").values_list("pk", flat=True))


def check_decided(ticket_ids: Sequence[int]) -> None:
    """Raises NotDecided."""
    found = dict(Ticket.objects.filter(pk__in=ticket_ids).values_list("pk", "status"))
    for ticket_id in ticket_ids:
        if ticket_id not in found:
            raise NotDecided(f"There is no ticket {ticket_id}.")
        if found[ticket_id] not in TERMINAL:
            raise NotDecided(f"Ticket {ticket_id} is open; decide it first.")


def anonymise_tickets(
    ticket_ids: Sequence[int], *, show: Callable[[str], None] = lambda text: None
) -> dict[str, int]:
    """Anonymise them, in steps; returns how many rows of each kind. It cannot be undone.

    Raises NotDecided, also where one is opened again meanwhile, and what the storage of files
    raises: then call it again.
    """
    check_decided(ticket_ids)
    counts: Counter[str] = Counter()
    for first in range(0, len(ticket_ids), STEP):
        keys = list(ticket_ids[first : first + STEP])
        counts.update(blank_decided(keys))
        remove_erased_files()
        show(f"{first + len(keys)} of {len(ticket_ids)} tickets")
    companies = Ticket.objects.filter(pk__in=ticket_ids).order_by().values_list("company_id")
    for (company_id,) in companies.distinct():
        counts.update(blank_told(company_id, list(ticket_ids), show))
    return dict(counts)


@transaction.atomic
def blank_decided(keys: list[int]) -> dict[str, int]:
    # Locked, so that nobody opens one again meanwhile.
    list(Ticket.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    check_decided(keys)
    return blank_tickets(keys) | erasing.execute_all({"log of the desk": LOG}, keys)


def blank_told(company_id: int, tickets: list[int], show: Callable[[str], None]) -> dict[str, int]:
    """What their events and deliveries hold of them."""
    events = [
        key for keys, _ in walk_events(company_id, None) for key in those_of(TOLD, keys, tickets)
    ]
    counts: Counter[str] = Counter()
    if not events:
        return counts
    for walk, blank in ((walk_waiting, cancel_some), (walk_log, blank_attempts)):
        for keys, _ in walk(company_id, None):
            if about := those_of(ABOUT, keys, events):
                counts.update(erasing.anew(partial(blank, about)))
                show(f"{sum(counts.values())} deliveries and attempts")
    for first in range(0, len(events), STEP):
        counts.update(blank_events(events[first : first + STEP]))
    return counts


def those_of(statement: str, keys: list[Any], of: Sequence[int]) -> list[Any]:
    """Those of `keys` that belong to some tickets or events."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"keys": keys, "of": list(of)})
        return [key for (key,) in cursor]
