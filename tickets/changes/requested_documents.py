"""Representation of requested documents."""

from typing import Any

from tickets.models import RequestedDocument, Ticket


def requested_documents_of(ticket: Ticket) -> list[dict[str, Any]]:
    """Return the rows of a ticket's requested documents, in the order of the requests."""
    return [requested_row(one) for one in ticket.requested_documents.all()]


def requested_row(document: RequestedDocument) -> dict[str, Any]:
    return {
        "id": document.pk,
        "name": document.name,
        "fulfilled": document.fulfilled_at is not None,
    }
