"""Gauges of tickets."""

from datetime import datetime

from core.measures.gauges import Gauges, gauge, gauges
from tickets.models import Ticket
from tickets.models.agents import left_behind


@gauges
def of_tickets(now: datetime) -> Gauges:
    yield gauge("tickets_running", "Tickets whose clock runs", Ticket.objects.running().count())
    unassigned = Ticket.objects.waiting().count() + left_behind().count()
    yield gauge("tickets_unassigned", "Running tickets without an agent who works here", unassigned)
