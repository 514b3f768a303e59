"""Actions of a company on its tickets: updates, comments, ratings (decisions T2 to T10)."""

from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from companies.models import Company
from core.values.texts import is_blank
from tickets.changes.actors import Actor
from tickets.changes.history import record_history
from tickets.changes.news import ticket_service
from tickets.changes.text_bounds import count_text
from tickets.changes.writes import add_comment, change_status, replace_data
from tickets.history_codes import Kind, NotMoved
from tickets.models import Rating, Ticket
from tickets.statuses import FOLLOWED_UP_BY_COMMENT, TERMINAL, By, Status, allows


class UpdateOutcome(NamedTuple):
    """Effect of a request: whether it changed anything, and the status after it (decision N12)."""

    changed: bool
    status: Status


class TicketClosed(Exception):
    """Refusal of a comment on a decided ticket."""


class RatingRefused(Exception):
    """Refusal of a rating: the ticket is open, or already rated."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


@ticket_service
def update_ticket(
    company: Company,
    ticket_id: int,
    actor: Actor,
    *,
    to: Status,
    text: str = "",
    data: str | None = None,
) -> UpdateOutcome:
    """Move the company's ticket if allowed, and store the message and variables.

    A decided ticket ignores all of it (decision T4); an open one stores the message and variables
    even if the move is refused (decision T5). Raises Ticket.DoesNotExist and TextRefused.
    """
    ticket = company.tickets.hold(ticket_id)
    current = Status(ticket.status)
    if current in TERMINAL:
        return UpdateOutcome(False, current)
    count_text(company, text, data)
    refusal = None if to == current else move_refusal(ticket, to, text, data)
    moves = to != current and refusal is None
    changes = replace_data(ticket, data)
    has_text = not is_blank(text)
    if moves:
        change_status(ticket, to, actor, data=changes)
    elif refusal and (changes or has_text):
        facts = {"to": to.value, "why": refusal.value, **changes}
        record_history(ticket, actor, Kind.MOVE_REFUSED, data=facts)
    elif changes:
        record_history(ticket, actor, Kind.DATA_CHANGED, data=changes)
    if has_text:
        add_comment(ticket, actor, text)
    return UpdateOutcome(moves or bool(changes) or has_text, Status(ticket.status))


def move_refusal(ticket: Ticket, to: Status, text: str, data: str | None) -> NotMoved | None:
    """Return the reason for refusing a company's move to another status, or None."""
    if not allows(Status(ticket.status), to, By.COMPANY):
        return NotMoved.NOT_ALLOWED
    if to == Status.FOLLOW_UP and not is_relevant(ticket, text, data):
        return NotMoved.NOTHING_NEW
    return None


def is_relevant(ticket: Ticket, text: str, data: str | None) -> bool:
    """Return whether this may bring the ticket back to an agent (decision T9)."""
    return bool(import_string(settings.RELEVANCE_CHECK)(ticket, text, data))


@ticket_service
def comment(company: Company, ticket_id: int, actor: Actor, text: str) -> UpdateOutcome:
    """Add the company's comment; a ticket In review moves to Follow up if it is relevant.

    An empty comment changes nothing (decision T7). Raises Ticket.DoesNotExist, TextRefused, and
    TicketClosed for a decided ticket, even if the comment is empty.
    """
    ticket = company.tickets.hold(ticket_id)
    if ticket.status in TERMINAL:
        raise TicketClosed("The ticket is closed to comments.")
    if is_blank(text):
        return UpdateOutcome(False, Status(ticket.status))
    count_text(company, text)
    if ticket.status in FOLLOWED_UP_BY_COMMENT:
        if is_relevant(ticket, text, None):
            change_status(ticket, Status.FOLLOW_UP, actor)
        else:
            facts = {"to": Status.FOLLOW_UP.value, "why": NotMoved.NOTHING_NEW.value}
            record_history(ticket, actor, Kind.MOVE_REFUSED, data=facts)
    add_comment(ticket, actor, text)
    return UpdateOutcome(True, Status(ticket.status))


@transaction.atomic
def rate(company: Company, ticket_id: int, *, rating: int, comment: str = "") -> None:
    """Store a company's rating. Raises Ticket.DoesNotExist, RatingRefused and TextRefused."""
    ticket = company.tickets.hold(ticket_id)
    if ticket.status not in TERMINAL:
        raise RatingRefused("Only a decided ticket can be rated.", code="ticket_not_decided")
    if Rating.objects.filter(ticket=ticket).exists():
        raise RatingRefused("The ticket has already been rated.", code="already_rated")
    count_text(company, comment)
    Rating.objects.create(ticket=ticket, rating=rating, comment=comment, created_at=timezone.now())
