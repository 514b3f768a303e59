"""Representation of tickets, their history and types in the API."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from typing import Any, NamedTuple

from shipments.models import Shipment
from tickets.api.serving import signed_path
from tickets.changes.public_values import comment_type, format_utc, public_actor, public_amounts
from tickets.changes.requested_documents import requested_row
from tickets.models import (
    Appeal,
    Comment,
    Document,
    HistoryEntry,
    RequestedDocument,
    Ticket,
    TicketFile,
    TicketType,
)
from tickets.stated_fields import stated_values
from tickets.statuses import Status

# {"alg":"none"}
UNSIGNED_HEAD = "eyJhbGciOiJub25lIn0"


class Parts(NamedTuple):
    """Related rows for the representation of a ticket.

    `comments` are public, oldest first, and include at least the last one.
    """

    shipment: Shipment | None
    comments: list[Comment]
    documents: list[Document]
    files: list[TicketFile]
    requested: list[RequestedDocument]


def ticket_row(ticket: Ticket, parts: Parts, *, base: str) -> dict[str, Any]:
    """Return a ticket's representation; `base` is the service's own address, for URLs of files."""
    shipment = parts.shipment
    last = parts.comments[-1] if parts.comments else None
    return {
        "id": ticket.pk,
        "company_id": ticket.company_id,
        "ticket_type_id": ticket.type_id,
        "ticket_type_name": ticket.type.name,
        "reference": ticket.type.reference,
        "ticket_status_id": ticket.status,
        "ticket_status_name": Status(ticket.status).slug,
        "shipment_id": ticket.shipment_id,
        "tracking_number": shipment.tracking_number if shipment else None,
        "carrier": shipment.carrier_name if shipment else None,
        **stated_values(ticket),
        "comments": ticket.comments,
        "data": ticket.data,
        "documents": [document_row(one) for one in parts.documents],
        "files": [file_row(file, base) for file in parts.files],
        "file_quantity": len(parts.files),
        "requested_documents": [requested_row(one) for one in parts.requested],
        "reason_code": ticket.reason_code or None,
        "amounts": public_amounts(ticket.amounts),
        "created_at": format_utc(ticket.created_at),
        "updated_at": format_utc(ticket.updated_at),
        "utc_created_at": format_utc(ticket.created_at),
        "last_comment": last
        and {
            "comment_text": last.text,
            "comment_type": comment_type(last),
            "comment_status_id": last.status,
            "comment_created_at": format_utc(last.created_at),
        },
        "allComments": [],
        "rating": rating(ticket),
    }


def document_row(document: Document) -> dict[str, Any]:
    return {
        "field_id": document.field_id,
        "key": document.key,
        "type": document.type,
        "value": document.value,
    }


def rating(ticket: Ticket) -> dict[str, Any]:
    if not hasattr(ticket, "rating"):
        return {"evaluated": 0, "rating": None, "comment": None}
    return {
        "evaluated": 1,
        "rating": ticket.rating.rating,
        "comment": ticket.rating.comment,
    }


def appeal_row(appeal: Appeal | None) -> dict[str, Any] | None:
    """Return an appeal's representation, without the lead who decided it; None for no appeal."""
    if appeal is None:
        return None
    return {
        "state": appeal.state,
        "comment": appeal.comment,
        "created_at": format_utc(appeal.created_at),
        "decided_at": format_utc(appeal.decided_at) if appeal.decided_at else None,
        "reason": appeal.reason or None,
    }


def new_file_row(file: TicketFile, base: str) -> dict[str, Any]:
    """Return the representation of an uploaded file; its URL is valid for an hour."""
    url = base + signed_path(file)
    return {"id": file.pk, "name": file.name, "url": url, "file_url": url}


def file_row(file: TicketFile, base: str) -> dict[str, Any]:
    return {
        **new_file_row(file, base),
        "content_type": file.media_type,
        "size": file.size,
        "description": file.description,
        "requested_document": file.requested_document_id,
        "created_at": format_utc(file.created_at),
    }


def history_rows(entries: Iterable[HistoryEntry]) -> list[dict[str, Any]]:
    return [
        {
            "from": entry.was,
            "to": entry.now,
            "actor": public_actor(entry.by),
            "at": format_utc(entry.created_at),
        }
        for entry in entries
    ]


def type_row(ticket_type: TicketType) -> dict[str, Any]:
    return {
        "id": ticket_type.pk,
        "name": ticket_type.name,
        "description": ticket_type.description,
        "rules": {
            "reference": ticket_type.reference,
            "inputs": ticket_type.inputs,
            "files": ticket_type.files,
            "mcp_context": assistant_context(ticket_type),
        },
        "type": ticket_type.reference,
        "active": int(ticket_type.active),
    }


def assistant_context(ticket_type: TicketType) -> dict[str, Any]:
    """Return advice for AI assistants on choosing a type; its clients determine the keys."""
    about_shipment = ticket_type.reference == TicketType.Reference.SHIPMENT
    return {
        "is_blocked": ticket_type.assistants_blocked,
        "use_case": ticket_type.use_case or ticket_type.description,
        "requires_guide": about_shipment and ticket_type.reference_required,
        "agent_notes": [
            note.strip() for note in ticket_type.assistant_notes.splitlines() if note.strip()
        ],
    }


def user_information(company_id: int) -> dict[str, Any]:
    """Return the caller's company id, also in a JSON Web Token for clients of the live platform.

    They read it from the token's payload. The token is unsigned and grants no access.
    """
    data = {"company_id": company_id}
    payload = urlsafe_b64encode(json.dumps({"data": data}).encode()).decode().rstrip("=")
    return {"data": data, "token": f"{UNSIGNED_HEAD}.{payload}.unsigned"}


def filter_options(types: Iterable[TicketType]) -> dict[str, Any]:
    """Return the values by which the list of tickets can be filtered."""
    return {
        "statuses": [{"value": status.value, "lang": status.slug} for status in Status],
        "types": [{"value": one.pk, "lang": one.name} for one in types],
    }
