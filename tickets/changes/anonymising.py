"""Anonymising tickets: what people wrote, names and files go; the skeleton stays.

As when a company is erased (tickets.changes.erasable), for some of its tickets, which must be
decided, or for all that is known of a parcel. What was told of them goes too: what waits to be
sent is cancelled, what was sent is blanked. All of it may be done again at any time.
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
from shipments.erasable import BLANK_SHIPMENTS
from shipments.models import Shipment
from tickets.changes.erasable import WRITE_SEARCH_ENTRIES, blank_tickets, remove_erased_files
from tickets.models import Ticket
from tickets.statuses import TERMINAL

STEP = 100
TOLD = """
SELECT id FROM deliveries_event WHERE id = ANY(%(keys)s)
  AND (ticket_id = ANY(%(tickets)s) OR shipment_id = ANY(%(shipments)s))
"""
# Those that were published while the others were blanked. There are few, and an index by number.
TOLD_LATE = """
SELECT event.id FROM deliveries_event AS event
JOIN shipments_shipment AS shipment USING (tracking_number, company_id)
WHERE shipment.id = ANY(%(shipments)s) AND tracking_number <> ''
"""
ABOUT = """
SELECT id::text FROM deliveries_delivery
WHERE id = ANY(%(keys)s::uuid[]) AND event_id = ANY(%(events)s)
"""
LOG = """
UPDATE django_admin_log SET object_repr = '', change_message = ''
WHERE object_id = ANY(%(keys)s::text[]) AND content_type_id = (
  SELECT id FROM django_content_type WHERE (app_label, model) = ('{}', '{}'))
"""
LOG_OF_TICKETS = {"log of the desk": LOG.format("tickets", "ticket")}
LOG_OF_SHIPMENTS = {"log of the desk": LOG.format("shipments", "shipment")}

Show = Callable[[str], None]


class NotDecided(ValueError):
    """A ticket is open, or there is none; the message says which."""


def decided_long_ago(company_id: int, before: datetime) -> list[int]:
    """The ids of those of a company that were decided before a time, and are."""
    decided = Ticket.objects.filter(company_id=company_id, status__in=TERMINAL)
    return list(decided.filter(decided_at__lt=before).order_by("pk").values_list("pk", flat=True))


def shipments_numbered(tracking_number: str, company_id: int | None = None) -> list[int]:
    """The ids of the shipments of that tracking number: of one company, or of all."""
    found = Shipment.objects.numbered([tracking_number])
    if company_id is not None:
        found = found.filter(company=company_id)
    return list(found.order_by("pk").values_list("pk", flat=True))


def tickets_about(shipment_ids: Sequence[int]) -> list[int]:
    """The ids of all tickets about some shipments, open ones too."""
    found = Ticket.objects.filter(shipment_id__in=shipment_ids)
    return list(found.order_by("pk").values_list("pk", flat=True))


def check_decided(ticket_ids: Sequence[int]) -> None:
    """Raises NotDecided."""
    found = dict(Ticket.objects.filter(pk__in=ticket_ids).values_list("pk", "status"))
    for ticket_id in ticket_ids:
        if ticket_id not in found:
            raise NotDecided(f"There is no ticket {ticket_id}.")
        if found[ticket_id] not in TERMINAL:
            raise NotDecided(f"Ticket {ticket_id} is open; decide it first.")


def anonymise(
    ticket_ids: Sequence[int],
    shipment_ids: Sequence[int] = (),
    *,
    show: Show = lambda text: None,
) -> dict[str, int]:
    """Anonymise tickets and shipments, in steps; returns how many rows of each kind.

    Give `tickets_about` the shipments with these. It cannot be undone. Raises NotDecided, also
    where a ticket is opened again meanwhile, and what the storage of files raises: then call it
    again.
    """
    check_decided(ticket_ids)
    counts: Counter[str] = Counter()
    for first in range(0, len(ticket_ids), STEP):
        keys = list(ticket_ids[first : first + STEP])
        counts.update(blank_decided(keys))
        remove_erased_files()
        show(f"{first + len(keys)} of {len(ticket_ids)} tickets")
    for company_id in companies_of(ticket_ids, shipment_ids):
        events = events_about(company_id, ticket_ids, shipment_ids)
        counts.update(blank_told(company_id, events, show))
    # Last, as what was interrupted is found by the number again.
    late = blank_shipments(list(shipment_ids), counts) if shipment_ids else []
    for company_id in companies_of((), shipment_ids):
        counts.update(blank_told(company_id, late, show))
    return dict(counts)


def companies_of(ticket_ids: Sequence[int], shipment_ids: Sequence[int]) -> list[int]:
    tickets = Ticket.objects.filter(pk__in=ticket_ids).values_list("company_id", flat=True)
    shipments = Shipment.objects.filter(pk__in=shipment_ids).values_list("company_id", flat=True)
    return sorted({*tickets, *shipments})


@transaction.atomic
def blank_decided(keys: list[int]) -> dict[str, int]:
    # Locked, so that nobody opens one again meanwhile.
    list(Ticket.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    check_decided(keys)
    return blank_tickets(keys) | erasing.execute_all(LOG_OF_TICKETS, keys)


@transaction.atomic
def blank_shipments(keys: list[int], counts: Counter[str]) -> list[int]:
    """Blank them, and count; returns the events about them that were still told meanwhile.

    From then on what is told of them has no number.
    """
    # As the feed locks them: no line about them is read meanwhile.
    list(Shipment.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    late = those_of(TOLD_LATE, shipments=keys)
    counts.update(blank_events(late))
    counts.update(erasing.execute_all(BLANK_SHIPMENTS | LOG_OF_SHIPMENTS, keys))
    # Their search entries had the number.
    erasing.execute_all(WRITE_SEARCH_ENTRIES, tickets_about(keys))
    return late


def events_about(company_id: int, tickets: Sequence[int], shipments: Sequence[int]) -> list[int]:
    """The events of a company about tickets and shipments."""
    about = {"tickets": list(tickets), "shipments": list(shipments)}
    batches = (keys for keys, _ in walk_events(company_id, None))
    return [key for keys in batches for key in those_of(TOLD, keys=keys, **about)]


def blank_told(company_id: int, events: list[int], show: Show) -> dict[str, int]:
    """What events of a company and their deliveries hold."""
    counts: Counter[str] = Counter()
    if not events:
        return counts
    for walk, blank in ((walk_waiting, cancel_some), (walk_log, blank_attempts)):
        for keys, _ in walk(company_id, None):
            if about := those_of(ABOUT, keys=keys, events=events):
                counts.update(erasing.anew(partial(blank, about)))
                show(f"{sum(counts.values())} deliveries and attempts")
    for first in range(0, len(events), STEP):
        counts.update(blank_events(events[first : first + STEP]))
    return counts


def those_of(statement: str, **values: list[Any]) -> list[Any]:
    """The first column of what a statement finds."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [key for (key,) in cursor]
