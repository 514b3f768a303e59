"""Due dates of one ticket from its moves and the present targets.

They are set in the transaction of a change; `recalculation` does it for many tickets.
"""

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import QuerySet

from core.data.compiled_queries import CompiledQuery, Slot
from shipments.models import Shipment
from tickets.models import HistoryEntry, Ticket
from tickets.sla import clocks, policy
from tickets.sla.clocks import Move
from tickets.statuses import TERMINAL, By, Status

logger = logging.getLogger(__name__)

DUE = ["first_response_due_at", "resolution_due_at", "due_at", "clock_digest"]
FILED = ["carrier_name", "filing_due_at"]


def set_for_new_ticket(ticket: Ticket) -> None:
    """Start the clocks of a ticket that is not saved yet."""
    rules = policy.current_rules()
    set_claim_deadline(ticket, rules, shipment_of(ticket))
    set_due_dates(ticket, rules, [Move(Status.PENDING, ticket.created_at)])


def update_after_move(ticket: Ticket, by: By, at: datetime) -> list[str]:
    """Set the due dates of a ticket after a move; returns the fields to save."""
    ticket.decided_at = at if ticket.status in TERMINAL else None
    if ticket.first_responded_at is None and clocks.answers(by, Status(ticket.status)):
        ticket.first_responded_at = at
    return ["decided_at", "first_responded_at", *recalculate(ticket)]


def update_after_answer(ticket: Ticket, at: datetime) -> list[str]:
    """Set the due dates of a ticket after an answer to its company; returns the fields to save."""
    if ticket.first_responded_at is not None:
        return []
    ticket.first_responded_at = at
    return ["first_responded_at", *recalculate(ticket)]


def recalculate(ticket: Ticket) -> list[str]:
    rules, digest = policy.current_rules(), ticket.clock_digest
    moves = HistoryEntry.objects.moves().filter(ticket=ticket)
    set_due_dates(ticket, rules, status_path(ticket, moves.values_list("now", "created_at")))
    if ticket.clock_digest == digest:
        return DUE
    # With the new digest, `recalculate_stale` skips the ticket: update the claim deadline here.
    set_claim_deadline(ticket, rules, shipment_of(ticket))
    return [*DUE, *FILED]


def set_due_dates(ticket: Ticket, rules: policy.SLARules, moves: list[Move]) -> None:
    """Set the due dates after these moves, without saving."""
    plan = ticket.company.plan
    due = clocks.NEVER
    if promise := rules.promise(plan, ticket.type_id):
        try:
            due = clocks.compute_due(moves, ticket.first_responded_at, promise)
        except (ValueError, OverflowError) as error:
            logger.warning("cannot set due dates on ticket %s: %s", ticket.pk or "to come", error)
    ticket.first_response_due_at, ticket.resolution_due_at, ticket.due_at = due
    ticket.clock_digest = rules.digest(plan)


def status_path(ticket: Ticket, rows: Iterable[tuple[int, datetime]]) -> list[Move]:
    """Return a ticket's statuses since it was opened; `rows` are its moves in order."""
    moves = [Move(Status.PENDING, ticket.created_at)]
    moves += [Move(Status(status), at) for status, at in rows]
    if moves[-1].status != ticket.status:
        # The ticket was imported without its history.
        moves.append(Move(Status(ticket.status), ticket.decided_at or ticket.updated_at))
    return moves


def set_claim_deadline(ticket: Ticket, rules: policy.SLARules, shipment: Shipment | None) -> None:
    """Set the carrier and the claim deadline, without saving."""
    if shipment is None:
        return
    ticket.carrier_name = ticket.carrier_name or shipment.carrier_name
    filing = rules.filing_of(ticket.carrier_name, ticket.type_id)
    ticket.filing_due_at = filing and clocks.filing_due(
        filing, shipment.shipped_at, shipment.delivered_at
    )


def shipment_of(ticket: Ticket) -> Shipment | None:
    """Return the ticket's shipment if its company owns it (decision T12)."""
    if ticket.shipment_id is None:
        return None
    rows = SHIPMENT.fetch(shipment=ticket.shipment_id, company=ticket.company_id)
    return Shipment.from_db(DEFAULT_DB_ALIAS, SHIPMENT_COLUMNS, rows[0]) if rows else None


SHIPMENT_COLUMNS = ["id", "carrier_name", "shipped_at", "delivered_at"]


def shipment_query(shipment: Slot, company: Slot) -> QuerySet[Shipment, tuple[Any, ...]]:
    return Shipment.objects.filter(pk=shipment, company=company).values_list(*SHIPMENT_COLUMNS)


SHIPMENT = CompiledQuery(shipment_query, shipment="{}::bigint", company="{}::bigint")
