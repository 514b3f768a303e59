"""The indexes over tickets, each with who asks for it."""

from django.db import models
from django.db.models import F, Q

from tickets.statuses import TERMINAL

# Plain numbers, as migrations must not depend on our modules.
TERMINAL_VALUES = sorted(status.value for status in TERMINAL)
# The condition of indexes over open tickets. It names what is not open, so that a further open
# status rebuilds none. PostgreSQL uses such an index where a query says the same, or names only
# open statuses.
NOT_DECIDED = ~Q(status__in=TERMINAL_VALUES)

TICKET_INDEXES = [
    # A company's list, also between two dates, and the counts beside it.
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
    # The desk's queues, of open tickets: small, however many are decided.
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
    # Those without a deadline too: they come last in a list that is sorted by it.
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
    # Claims that can still be filed: the most money first, then the least time.
    models.Index(
        F("amount_claimed").desc(nulls_last=True),
        F("filing_due_at"),
        F("id"),
        condition=NOT_DECIDED & Q(filing_due_at__isnull=False),
        name="ticket_claims_to_file",
    ),
    # What waits for its company, the longest silent first: for reminders and closing.
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
    # The desk's filters over everything.
    models.Index(fields=["agent", "-created_at", "-id"], name="ticket_agent_newest"),
    models.Index(
        fields=["decided_by", "-created_at", "-id"],
        condition=Q(decided_by__isnull=False),
        name="ticket_decided_by_newest",
    ),
    models.Index(fields=["type", "-created_at", "-id"], name="ticket_type_newest"),
    models.Index(fields=["carrier_name", "-created_at", "-id"], name="ticket_carrier_newest"),
    # Claims by amount, and which currencies there are.
    models.Index(
        fields=["currency", "amount_claimed"],
        condition=Q(amount_claimed__isnull=False),
        name="ticket_amount_claimed",
    ),
    # What came in, what was decided and what is open, for figures and storms. Each holds
    # all that is asked of it, so that none of forty thousand rows has to be looked up.
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
