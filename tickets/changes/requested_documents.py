"""What a company is asked for."""

from typing import Any

from tickets.models import Ticket


def requested_documents_of(ticket: Ticket) -> list[dict[str, Any]]:
    """The documents that the ticket's company is asked for, as it is shown them.

    Each has an `id`, a `name` and whether it is `fulfilled`.
    """
    return []
