"""What a company does to its open tickets: change, comment, rate (decisions T2 to T10)."""

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from companies.models import Company
from tickets.changes.actors import Actor
from tickets.changes.history import remember
from tickets.changes.writes import change_status, replace_data, say
from tickets.models import Rating, Ticket
from tickets.statuses import TERMINAL, By, Status, allows

HELD_BACK = "Held back from Follow up: what came with it says nothing new."


class TicketClosed(Exception):
    """The ticket takes no more comments."""


class RatingRefused(Exception):
    """The ticket cannot be rated, or not again."""


@transaction.atomic
def update_ticket(
    company: Company,
    ticket_id: int,
    actor: Actor,
    *,
    to: Status,
    text: str = "",
    data: str | None = None,
) -> bool:
    """Move the company's ticket if that may be, and take the message and variables it brings.

    Returns whether anything changed: a decided ticket ignores it all (decision T4), an open one
    keeps what came with a move that cannot be (decision T5). Raises Ticket.DoesNotExist.
    """
    ticket = company.tickets.hold(ticket_id)
    was = Status(ticket.status)
    if was in TERMINAL:
        return False
    hindrance = what_hinders(ticket, to, text, data)
    changes = replace_data(ticket, data)
    spoken = bool(text.strip())
    if hindrance is None:
        change_status(ticket, to, actor, changes=changes)
    elif changes or (spoken and was != to):
        remember(ticket, actor, reason=hindrance, changes=changes)
    if spoken:
        say(ticket, actor, text)
    return hindrance is None or bool(changes) or spoken


def what_hinders(ticket: Ticket, to: Status, text: str, data: str | None) -> str | None:
    """Why the company's ticket stays where it is, as history will say; None if it moves."""
    was = Status(ticket.status)
    if was == to:
        return "The status stays."
    if not allows(was, to, By.COMPANY):
        return f"{to.label} was asked for and cannot follow {was.label}: the status stays."
    if to == Status.FOLLOW_UP and not relevant(ticket, text, data):
        return HELD_BACK
    return None


def relevant(ticket: Ticket, text: str, data: str | None) -> bool:
    """May the ticket come back to an agent with this? (decision T9)"""
    return bool(import_string(settings.RELEVANCE_CHECK)(ticket, text, data))


@transaction.atomic
def comment(company: Company, ticket_id: int, actor: Actor, text: str) -> bool:
    """Add the company's comment; on In review it brings the ticket back to an agent.

    Returns whether there was anything to add (decision T7). Raises Ticket.DoesNotExist and
    TicketClosed, which a decided ticket answers to an empty comment too.
    """
    ticket = company.tickets.hold(ticket_id)
    if ticket.status in TERMINAL:
        raise TicketClosed("The ticket is closed to comments.")
    if not text.strip():
        return False
    if ticket.status == Status.IN_REVIEW:
        if relevant(ticket, text, None):
            change_status(ticket, Status.FOLLOW_UP, actor)
        else:
            remember(ticket, actor, reason=HELD_BACK)
    say(ticket, actor, text)
    return True


@transaction.atomic
def rate(company: Company, ticket_id: int, *, rating: int, comment: str = "") -> None:
    """Keep what the company thinks of a decision. Raises Ticket.DoesNotExist, RatingRefused."""
    ticket = company.tickets.hold(ticket_id)
    if ticket.status not in TERMINAL:
        raise RatingRefused("Only a decided ticket can be rated.")
    if Rating.objects.filter(ticket=ticket).exists():
        raise RatingRefused("The ticket has been rated already.")
    Rating.objects.create(ticket=ticket, rating=rating, comment=comment, created_at=timezone.now())
