"""Anonymisation of tickets: texts, names and files are removed; other columns stay.

It does the same as erasing a company (tickets.changes.erasable), for some of its tickets, which
must be decided, or for all data about a parcel. Their events are included: waiting deliveries are
cancelled, sent ones are blanked. It is idempotent, and may be repeated at any time.
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
EVENTS = """
SELECT id FROM deliveries_event WHERE id = ANY(%(keys)s)
  AND (ticket_id = ANY(%(tickets)s) OR shipment_id = ANY(%(shipments)s))
"""
# Events published while others were blanked: few, and found by an index on the number.
LATE_EVENTS = """
SELECT event.id FROM deliveries_event AS event
JOIN shipments_shipment AS shipment USING (tracking_number, company_id)
WHERE shipment.id = ANY(%(shipments)s) AND tracking_number <> ''
"""
DELIVERIES = """
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
    """Refusal to anonymise an open or unknown ticket."""


def decided_long_ago(company_id: int, before: datetime) -> list[int]:
    """Return the ids of a company's decided tickets whose decision is older than `before`."""
    decided = Ticket.objects.filter(company_id=company_id, status__in=TERMINAL)
    return list(decided.filter(decided_at__lt=before).order_by("pk").values_list("pk", flat=True))


def shipments_numbered(tracking_number: str, company_id: int | None = None) -> list[int]:
    """Return the ids of the shipments with this tracking number, of one company or of all."""
    shipments = Shipment.objects.numbered([tracking_number])
    if company_id is not None:
        shipments = shipments.filter(company=company_id)
    return list(shipments.order_by("pk").values_list("pk", flat=True))


def tickets_about(shipment_ids: Sequence[int]) -> list[int]:
    """Return the ids of all tickets about these shipments, including open ones."""
    tickets = Ticket.objects.filter(shipment_id__in=shipment_ids)
    return list(tickets.order_by("pk").values_list("pk", flat=True))


def check_decided(ticket_ids: Sequence[int]) -> None:
    """Raise NotDecided if a ticket is open or does not exist."""
    statuses = dict(Ticket.objects.filter(pk__in=ticket_ids).values_list("pk", "status"))
    for ticket_id in ticket_ids:
        if ticket_id not in statuses:
            raise NotDecided(f"There is no ticket {ticket_id}.")
        if statuses[ticket_id] not in TERMINAL:
            raise NotDecided(f"Ticket {ticket_id} is open; decide it first.")


def anonymise(
    ticket_ids: Sequence[int],
    shipment_ids: Sequence[int] = (),
    *,
    show: Show = lambda text: None,
) -> dict[str, int]:
    """Anonymise tickets and shipments in steps; returns the number of rows by kind.

    For shipments pass all of `tickets_about` as well. It cannot be undone. Raises NotDecided, also
    if a ticket is reopened meanwhile, and errors of the file storage: then call it again.
    """
    check_decided(ticket_ids)
    counts: Counter[str] = Counter()
    for first in range(0, len(ticket_ids), STEP):
        keys = list(ticket_ids[first : first + STEP])
        counts.update(blank_decided(keys))
        remove_erased_files()
        show(f"{first + len(keys)} of {len(ticket_ids)} tickets")
    for company_id in companies_of(ticket_ids, shipment_ids):
        events = event_ids_about(company_id, ticket_ids, shipment_ids)
        counts.update(blank_events_about(company_id, events, show))
    # Blank the shipments last: a run that was interrupted finds them again by their number.
    late = blank_shipments(list(shipment_ids), counts) if shipment_ids else []
    for company_id in companies_of((), shipment_ids):
        counts.update(blank_events_about(company_id, late, show))
    return dict(counts)


def companies_of(ticket_ids: Sequence[int], shipment_ids: Sequence[int]) -> list[int]:
    tickets = Ticket.objects.filter(pk__in=ticket_ids).values_list("company_id", flat=True)
    shipments = Shipment.objects.filter(pk__in=shipment_ids).values_list("company_id", flat=True)
    return sorted({*tickets, *shipments})


@transaction.atomic
def blank_decided(keys: list[int]) -> dict[str, int]:
    # Locked, so that none can be reopened meanwhile.
    list(Ticket.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    check_decided(keys)
    return blank_tickets(keys) | erasing.execute_all(LOG_OF_TICKETS, keys)


@transaction.atomic
def blank_shipments(keys: list[int], counts: Counter[str]) -> list[int]:
    """Blank shipments, and add the rows to `counts`; returns the events published meanwhile.

    Later events about them have no tracking number.
    """
    # Locked in the same way as by the feed, so that no line about them is recorded meanwhile.
    list(Shipment.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk"))
    late = fetch_keys(LATE_EVENTS, shipments=keys)
    counts.update(blank_events(late))
    counts.update(erasing.execute_all(BLANK_SHIPMENTS | LOG_OF_SHIPMENTS, keys))
    # Search entries include the tracking number.
    erasing.execute_all(WRITE_SEARCH_ENTRIES, tickets_about(keys))
    return late


def event_ids_about(company_id: int, tickets: Sequence[int], shipments: Sequence[int]) -> list[int]:
    """Return the ids of a company's events about tickets and shipments."""
    subjects = {"tickets": list(tickets), "shipments": list(shipments)}
    batches = (keys for keys, _ in walk_events(company_id, None))
    return [key for keys in batches for key in fetch_keys(EVENTS, keys=keys, **subjects)]


def blank_events_about(company_id: int, events: list[int], show: Show) -> dict[str, int]:
    """Blank events of a company, and cancel or blank their deliveries; returns the counts."""
    counts: Counter[str] = Counter()
    if not events:
        return counts
    for walk, blank in ((walk_waiting, cancel_some), (walk_log, blank_attempts)):
        for keys, _ in walk(company_id, None):
            if deliveries := fetch_keys(DELIVERIES, keys=keys, events=events):
                counts.update(erasing.retry_moved_rows(partial(blank, deliveries)))
                show(f"{sum(counts.values())} deliveries and attempts")
    for first in range(0, len(events), STEP):
        counts.update(blank_events(events[first : first + STEP]))
    return counts


def fetch_keys(statement: str, **values: list[Any]) -> list[Any]:
    """Run a statement and return the first column of its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [key for (key,) in cursor]
