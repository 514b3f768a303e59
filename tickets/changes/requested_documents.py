"""What a company is asked for."""

from typing import Any

from tickets.models import RequestedDocument, Ticket


def requested_documents_of(ticket: Ticket) -> list[dict[str, Any]]:
    """The documents that the ticket's company is asked for, as it is shown them, as asked for."""
    return [requested_row(one) for one in ticket.requested_documents.all()]


def requested_row(document: RequestedDocument) -> dict[str, Any]:
    return {
        "id": document.pk,
        "name": document.name,
        "fulfilled": document.fulfilled_at is not None,
    }
