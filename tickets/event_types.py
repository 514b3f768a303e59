"""The event types of tickets (webhooks.apps imports this when Django starts)."""

from tickets.changes.ticket_updated import TICKET_UPDATED
from webhooks.event_types import registry

registry.register(TICKET_UPDATED)
