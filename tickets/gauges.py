"""Gauges of tickets."""

from datetime import datetime

from core.measures.gauges import Gauges, gauge, gauges
from tickets.models import Ticket
from tickets.models.agents import tickets_of_inactive_agents

# Counting more would read every index entry, for a figure that nobody needs.
MOST_UNASSIGNED = 10_000


@gauges
def of_tickets(now: datetime) -> Gauges:
    yield gauge("tickets_running", "Tickets whose clock runs", Ticket.objects.running().count())
    unassigned = sum(
        tickets.values("pk")[:MOST_UNASSIGNED].count()
        for tickets in (Ticket.objects.waiting(), tickets_of_inactive_agents())
    )
    text = "Running tickets without an agent who works here (counted up to 10,000 of each kind)"
    yield gauge("tickets_unassigned", text, unassigned)
