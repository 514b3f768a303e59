"""The event type about a ticket: its payload, schema and sample (decision N5).

The order of the keys is part of the body, which is signed and stored as bytes (decision W10).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from companies.models import Company
from core.values.texts import gettext_noop
from shipments.event_types.samples import DESCRIPTION, LARGE_ID
from shipments.models import Shipment
from tickets.changes.public_values import comment_row, public_actor, public_amounts
from tickets.changes.requested_documents import requested_documents_of
from tickets.history_codes import TicketChange
from tickets.models import Comment, Ticket, TicketType
from tickets.stated_fields import STATED_FIELDS, stated_values
from tickets.statuses import By, Status
from webhooks.envelope import NUMBER, TEXT, envelope, envelope_schema, object_schema
from webhooks.event_types import EventType, Payload, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketStory:
    """Change of a ticket by one request. `previous`: the status before; None for a new ticket."""

    ticket: Ticket
    change: TicketChange
    by: By
    previous: int | None
    # The last public comment.
    comment: Comment | None = None


@dataclass(frozen=True, kw_only=True)
class TicketEvent(EventType):
    tag: str = "Tickets"

    def payload(
        self,
        story: TicketStory,
        at: datetime,
        *,
        tracking_number: str | None,
        requested: list[dict[str, Any]],
    ) -> Payload:
        """Return the body of an event, without agents' names, notes, or the ticket's agent."""
        ticket, comment = story.ticket, story.comment
        data = {
            "ticket_id": ticket.pk,
            "ticket_type_id": ticket.type_id,
            "ticket_type_name": ticket.type.name,
            "ticket_status_id": int(ticket.status),
            "ticket_status_name": Status(ticket.status).slug,
            "previous_status_id": None if story.previous is None else int(story.previous),
            "change": story.change.value,
            "by": public_actor(story.by),
            "comment": comment and comment_row(comment, ticket.company.name),
            "requested_documents": requested,
            "shipment_id": ticket.shipment_id,
            "tracking_number": tracking_number,
            "reason_code": ticket.reason_code or None,
            "amounts": public_amounts(ticket.amounts),
            **stated_values(ticket, in_events=True),
        }
        return envelope(self.name, at, data)

    def sample(self, company_id: int, tracking_number: str, now: datetime) -> Payload:
        """Return the last move of the newest ticket about the shipment, or an invented one."""
        own = Shipment.objects.filter(company=company_id).numbered([tracking_number])
        tickets = Ticket.objects.filter(company=company_id, shipment_id__in=own.values("pk"))
        ticket = tickets.select_related("company", "type").order_by("-pk").first()
        if ticket is None:
            story, requested = made_up_story(company_id, now), []
        else:
            story, requested = last_move(ticket), requested_documents_of(ticket)
        return self.payload(story, now, tracking_number=tracking_number, requested=requested)


def last_move(ticket: Ticket) -> TicketStory:
    entry = ticket.history.filter(public=True).order_by("-pk").first()
    if entry is None or entry.was is None:
        return TicketStory(ticket=ticket, change=TicketChange.OPENED, by=By.COMPANY, previous=None)
    return TicketStory(
        ticket=ticket, change=TicketChange.MOVED, by=By(entry.by), previous=entry.was
    )


def made_up_story(company_id: int, now: datetime) -> TicketStory:
    status = Status.IN_REVIEW
    return TicketStory(
        ticket=Ticket(
            id=LARGE_ID,
            company=Company(id=company_id),
            type=TicketType(id=5, name="damaged"),
            status=status,
            shipment_id=LARGE_ID,
        ),
        change=TicketChange.MOVED,
        by=By.AGENT,
        previous=Status.PENDING,
        comment=Comment(id=1, by=By.AGENT, text=DESCRIPTION, status=status, created_at=now),
    )


def tracking_number_of(ticket: Ticket) -> str | None:
    """Return the number of the ticket's shipment if its company owns it (decision T12)."""
    if ticket.shipment_id is None:
        return None
    own = Shipment.objects.filter(pk=ticket.shipment_id, company=ticket.company_id)
    return own.values_list("tracking_number", flat=True).first()


def or_null(schema: Schema) -> Schema:
    """Return a nullable variant of a schema."""
    return {**schema, "type": [schema["type"], "null"]}


STATUS: Schema = {"type": "integer", "enum": [status.value for status in Status]}
SLUG: Schema = {"type": "string", "enum": [status.slug for status in Status]}
SHOWN_TIME: Schema = {"type": "string", "description": "YYYY-MM-DD HH:MM:SS, UTC."}
COMMENT = object_schema(
    id=NUMBER,
    type={"type": "string", "enum": ["client", "admin"]},
    status_id=STATUS,
    status_name=SLUG,
    description=TEXT,
    created_by_name=TEXT,
    created_at=SHOWN_TIME,
    utc_created_at=SHOWN_TIME,
)
AMOUNT: Schema = {"type": ["number", "null"], "minimum": 0}
AMOUNTS = object_schema(claimed=AMOUNT, offered=AMOUNT, paid=AMOUNT, currency=TEXT)
TICKET_UPDATED = TicketEvent(
    id=6,
    name="ticket.updated",
    signed=True,
    description=gettext_noop(
        "A ticket was opened, moved or answered, or documents were requested."
    ),
    schema=envelope_schema(
        "ticket.updated",
        object_schema(
            ticket_id=NUMBER,
            ticket_type_id=NUMBER,
            ticket_type_name=TEXT,
            ticket_status_id=STATUS,
            ticket_status_name=SLUG,
            previous_status_id={
                "type": ["integer", "null"],
                "enum": [*STATUS["enum"], None],
                "description": "Its status before; null where it was opened.",
            },
            change={"type": "string", "enum": [change.value for change in TicketChange]},
            by={"type": "string", "enum": [By.COMPANY.value, By.AGENT.value, By.SYSTEM.value]},
            comment={**or_null(COMMENT), "description": "What was written with it."},
            requested_documents={
                "type": "array",
                "items": object_schema(id=NUMBER, name=TEXT, fulfilled={"type": "boolean"}),
                "description": "All that you have been asked for on this ticket.",
            },
            shipment_id=or_null(NUMBER),
            tracking_number=or_null(TEXT),
            reason_code={
                **or_null(TEXT),
                "description": "Why it was decided so; null while it is open.",
            },
            amounts={**or_null(AMOUNTS), "description": "Null where no amount is known."},
            **{one.name: one.schema for one in STATED_FIELDS if one.in_events},
        ),
    ),
)
