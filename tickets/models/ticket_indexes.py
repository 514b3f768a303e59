"""Indexes on tickets, with the queries that use them."""

from django.db import models
from django.db.models import F, Q

from tickets.statuses import TERMINAL

# Plain numbers, as migrations must not import our modules.
TERMINAL_VALUES = sorted(status.value for status in TERMINAL)
# Condition of indexes on open tickets. It lists the terminal statuses, so that a new open status
# rebuilds no index. PostgreSQL uses these indexes for queries with the same condition, or for open
# statuses only.
NOT_DECIDED = ~Q(status__in=TERMINAL_VALUES)

TICKET_INDEXES = [
    # A company's list, optionally between two dates, and its counts.
    models.Index(
        fields=["company", "-created_at", "-id"],
        include=["status", "type"],
        name="ticket_company_newest",
    ),
    # The same by status, by type and by carrier, and in the order of change.
    models.Index(
        fields=["company", "status", "-created_at", "-id"],
        include=["type"],
        name="ticket_company_by_status",
    ),
    models.Index(
        fields=["company", "type", "-created_at", "-id"],
        include=["status"],
        name="ticket_company_by_type",
    ),
    models.Index(
        fields=["company", "carrier_id", "-created_at", "-id"],
        include=["status"],
        condition=Q(carrier_id__isnull=False),
        name="ticket_company_by_carrier",
    ),
    models.Index(
        fields=["company", "updated_at", "id"],
        include=["status", "type"],
        name="ticket_company_changed",
    ),
    models.Index(
        fields=["shipment_id", "company", "type"],
        condition=Q(shipment_id__isnull=False),
        name="ticket_shipment",
    ),
    models.Index(
        fields=["status", "company_spoke_last", "id"],
        condition=Q(agent=None) & NOT_DECIDED,
        name="ticket_unassigned",
    ),
    # The desk's queues of open tickets; these indexes stay small however many tickets are decided.
    models.Index(
        fields=["agent", "due_at", "id"],
        include=["status", "company_spoke_last"],
        condition=NOT_DECIDED,
        name="ticket_agent_due",
    ),
    models.Index(fields=["id"], condition=NOT_DECIDED, name="ticket_all_open"),
    models.Index(
        fields=["status", "-id"],
        condition=NOT_DECIDED,
        name="ticket_open_newest",
    ),
    # Includes tickets without a deadline, which come last in lists sorted by it.
    models.Index(
        fields=["due_at", "id"],
        condition=NOT_DECIDED,
        name="ticket_open_due",
    ),
    models.Index(
        fields=["filing_due_at", "id"],
        condition=NOT_DECIDED,
        name="ticket_open_filing",
    ),
    # Claims that can still be filed: the largest amount first, then the nearest deadline.
    models.Index(
        F("amount_claimed").desc(nulls_last=True),
        F("filing_due_at"),
        F("id"),
        condition=NOT_DECIDED & Q(filing_due_at__isnull=False),
        name="ticket_claims_to_file",
    ),
    # Tickets that wait for their company, the longest silent first, for reminders and closing.
    models.Index(
        fields=["status", "type", "updated_at", "id"],
        condition=NOT_DECIDED,
        name="ticket_silent",
    ),
    models.Index(
        fields=["due_at", "id"],
        condition=NOT_DECIDED & Q(escalated_due_at__isnull=False),
        name="ticket_escalated",
    ),
    # The desk's filters on all tickets.
    models.Index(fields=["agent", "-created_at", "-id"], name="ticket_agent_newest"),
    models.Index(
        fields=["decided_by", "-created_at", "-id"],
        condition=Q(decided_by__isnull=False),
        name="ticket_decided_by_newest",
    ),
    models.Index(fields=["type", "-created_at", "-id"], name="ticket_type_newest"),
    models.Index(fields=["carrier_name", "-created_at", "-id"], name="ticket_carrier_newest"),
    # Claims by amount, and the distinct currencies.
    models.Index(
        fields=["currency", "amount_claimed"],
        condition=Q(amount_claimed__isnull=False),
        name="ticket_amount_claimed",
    ),
    # Opened, decided and open tickets, for figures and storms. Covering indexes, as otherwise up to
    # forty thousand rows would be fetched from the table.
    models.Index(
        fields=["created_at"],
        include=["carrier_name", "type", "agent", "first_responded_at"],
        name="ticket_opened_at",
    ),
    models.Index(
        fields=["decided_at"],
        include=[
            "carrier_name",
            "type",
            "decided_by",
            "created_at",
            "status",
            "resolution_due_at",
        ],
        condition=Q(decided_at__isnull=False),
        name="ticket_decided_figures",
    ),
    models.Index(
        fields=["created_at"],
        include=["carrier_name", "type", "agent", "due_at", "filing_due_at", "status"],
        condition=NOT_DECIDED,
        name="ticket_open_figures",
    ),
]
