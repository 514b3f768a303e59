"""`ticket.updated`, which `tickets/changes/news.py` publishes."""

from tickets.changes.ticket_updated import TICKET_UPDATED
from webhooks.event_types import registry

registry.register(TICKET_UPDATED)
