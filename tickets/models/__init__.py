"""Tables of tickets, agents, service levels and history, with their querysets."""

from tickets.models.agents import Absence, Agent, LoadChange, Shift
from tickets.models.appeals import Appeal
from tickets.models.automations import Automation
from tickets.models.clocks import Calendar, FilingRule, Holiday, SLATarget, WorkingHours
from tickets.models.conversation import Comment, HistoryEntry, Rating, TextOfDay
from tickets.models.decisions import ApprovalLimit, ReasonCode
from tickets.models.files import (
    RequestedDocument,
    RequiredDocument,
    TicketFile,
    UnfinishedFile,
)
from tickets.models.notifications import Notification
from tickets.models.pending_answers import PendingAnswer
from tickets.models.phones import Phone, PhoneKey
from tickets.models.search import SearchEntry
from tickets.models.tickets import Document, IncidenceLink, Ticket
from tickets.models.together import CallerTicket, Mention, RelatedTickets, Snooze, Watch
from tickets.models.types import TicketType

__all__ = [
    "Absence",
    "Agent",
    "Appeal",
    "ApprovalLimit",
    "Automation",
    "Calendar",
    "CallerTicket",
    "Comment",
    "Document",
    "FilingRule",
    "HistoryEntry",
    "Holiday",
    "IncidenceLink",
    "LoadChange",
    "Mention",
    "Notification",
    "PendingAnswer",
    "Phone",
    "PhoneKey",
    "Rating",
    "ReasonCode",
    "RelatedTickets",
    "RequestedDocument",
    "RequiredDocument",
    "SLATarget",
    "SearchEntry",
    "Shift",
    "Snooze",
    "TextOfDay",
    "Ticket",
    "TicketFile",
    "TicketType",
    "UnfinishedFile",
    "Watch",
    "WorkingHours",
]
