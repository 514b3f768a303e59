"""The tables of tickets, agents, service levels and history, each with its queryset."""

from tickets.models.agents import Absence, Agent, LoadChange, Shift
from tickets.models.clocks import Calendar, FilingRule, Holiday, SLATarget, WorkingHours
from tickets.models.conversation import Comment, HistoryEntry, Rating
from tickets.models.phones import Phone, PhoneKey
from tickets.models.tickets import Document, IncidenceLink, Ticket
from tickets.models.types import TicketType

__all__ = [
    "Absence",
    "Agent",
    "Calendar",
    "Comment",
    "Document",
    "FilingRule",
    "HistoryEntry",
    "Holiday",
    "IncidenceLink",
    "LoadChange",
    "Phone",
    "PhoneKey",
    "Rating",
    "SLATarget",
    "Shift",
    "Ticket",
    "TicketType",
    "WorkingHours",
]
