"""What a company is asked for."""

from typing import Any

from tickets.models import Ticket


def requested_documents_of(ticket: Ticket) -> list[dict[str, Any]]:
    """The documents that the ticket's company is asked for, as it is shown them.

    Each has an `id`, a `name` and whether it is `fulfilled`; in the order of asking.
    """
    return [
        {"id": one.pk, "name": one.name, "fulfilled": one.fulfilled_at is not None}
        for one in ticket.requested_documents.all()
    ]
