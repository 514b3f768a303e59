"""What a company does to its open tickets: change, comment, rate (decisions T2 to T10)."""

from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from companies.models import Company
from core.values.texts import is_blank
from tickets.changes.actors import Actor
from tickets.changes.history import record_history
from tickets.changes.news import telling
from tickets.changes.text_bounds import count_text
from tickets.changes.writes import add_comment, change_status, replace_data
from tickets.history_codes import Kind, NotMoved
from tickets.models import Rating, Ticket
from tickets.statuses import FOLLOWED_UP_BY_COMMENT, TERMINAL, By, Status, allows


class UpdateOutcome(NamedTuple):
    """Whether a request changed anything, and the ticket's status after it (decision N12)."""

    changed: bool
    status: Status


class TicketClosed(Exception):
    """The ticket takes no more comments."""


class RatingRefused(Exception):
    """The ticket cannot be rated, or not again."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


@telling
def update_ticket(
    company: Company,
    ticket_id: int,
    actor: Actor,
    *,
    to: Status,
    text: str = "",
    data: str | None = None,
) -> UpdateOutcome:
    """Move the company's ticket if that may be, and take the message and variables it brings.

    A decided ticket ignores it all (decision T4), an open one keeps what came with a move that
    cannot be (decision T5). Raises Ticket.DoesNotExist and TextRefused.
    """
    ticket = company.tickets.hold(ticket_id)
    was = Status(ticket.status)
    if was in TERMINAL:
        return UpdateOutcome(False, was)
    count_text(company, text, data)
    refused = None if to == was else why_not_moved(ticket, to, text, data)
    moves = to != was and refused is None
    changed = replace_data(ticket, data)
    spoken = not is_blank(text)
    if moves:
        change_status(ticket, to, actor, data=changed)
    elif refused and (changed or spoken):
        facts = {"to": to.value, "why": refused.value, **changed}
        record_history(ticket, actor, Kind.MOVE_REFUSED, data=facts)
    elif changed:
        record_history(ticket, actor, Kind.DATA_CHANGED, data=changed)
    if spoken:
        add_comment(ticket, actor, text)
    return UpdateOutcome(moves or bool(changed) or spoken, Status(ticket.status))


def why_not_moved(ticket: Ticket, to: Status, text: str, data: str | None) -> NotMoved | None:
    """Why the company's ticket cannot move to another status; None if it can."""
    if not allows(Status(ticket.status), to, By.COMPANY):
        return NotMoved.NOT_ALLOWED
    if to == Status.FOLLOW_UP and not relevant(ticket, text, data):
        return NotMoved.NOTHING_NEW
    return None


def relevant(ticket: Ticket, text: str, data: str | None) -> bool:
    """May the ticket come back to an agent with this? (decision T9)"""
    return bool(import_string(settings.RELEVANCE_CHECK)(ticket, text, data))


@telling
def comment(company: Company, ticket_id: int, actor: Actor, text: str) -> UpdateOutcome:
    """Add the company's comment; on In review it brings the ticket back to an agent.

    An empty one changes nothing (decision T7). Raises Ticket.DoesNotExist, TextRefused and
    TicketClosed, which a decided ticket answers to an empty comment too.
    """
    ticket = company.tickets.hold(ticket_id)
    if ticket.status in TERMINAL:
        raise TicketClosed("The ticket is closed to comments.")
    if is_blank(text):
        return UpdateOutcome(False, Status(ticket.status))
    count_text(company, text)
    if ticket.status in FOLLOWED_UP_BY_COMMENT:
        if relevant(ticket, text, None):
            change_status(ticket, Status.FOLLOW_UP, actor)
        else:
            held_back = {"to": Status.FOLLOW_UP.value, "why": NotMoved.NOTHING_NEW.value}
            record_history(ticket, actor, Kind.MOVE_REFUSED, data=held_back)
    add_comment(ticket, actor, text)
    return UpdateOutcome(True, Status(ticket.status))


@transaction.atomic
def rate(company: Company, ticket_id: int, *, rating: int, comment: str = "") -> None:
    """Keep what the company thinks of a decision. Raises Ticket.DoesNotExist,
    RatingRefused and TextRefused."""
    ticket = company.tickets.hold(ticket_id)
    if ticket.status not in TERMINAL:
        raise RatingRefused("Only a decided ticket can be rated.", code="ticket_not_decided")
    if Rating.objects.filter(ticket=ticket).exists():
        raise RatingRefused("The ticket has already been rated.", code="already_rated")
    count_text(company, comment)
    Rating.objects.create(ticket=ticket, rating=rating, comment=comment, created_at=timezone.now())
