"""Shared writes on tickets: a status, the variables, a comment.

Each takes a ticket that its caller has locked (`Ticket.objects.hold`) in its transaction, and
updates the due dates.
"""

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from tickets.changes import mentions, news, variables
from tickets.changes.actors import SANDBOX, Actor
from tickets.changes.history import record_history
from tickets.changes.text_bounds import check_room
from tickets.history_codes import Kind, TicketChange
from tickets.labels import status_label
from tickets.models import Comment, Ticket
from tickets.sla import due_dates
from tickets.statuses import By, Status, allows


class MoveRefused(Exception):
    """Refusal of a move or of its text; the message says why."""


class StaleTicket(Exception):
    """Refusal because others changed the ticket after the page was made."""


def change_status(
    ticket: Ticket,
    to: Status,
    actor: Actor,
    *,
    reason: str = "",
    reason_code: str = "",
    data: dict[str, Any] | None = None,
) -> None:
    """Move a ticket; all changes of status are made here. `reason` and `data` are for history.

    `reason_code` is the reason of a decision, and "" for other moves. Raises MoveRefused.
    """
    current = Status(ticket.status)
    if not allows(current, to, actor.by):
        raise MoveRefused(refusal_reason(current, to, actor.by))
    ticket.status, ticket.reason_code = to, reason_code
    entry = record_history(ticket, actor, Kind.MOVED, previous=current, reason=reason, data=data)
    due = due_dates.update_after_move(ticket, actor.by, entry.created_at)
    save_change(ticket, "status", "reason_code", *due)


def refusal_reason(current: Status, to: Status, by: By) -> str:
    names = {"was": status_label(current), "to": status_label(to)}
    if current == to:
        return gettext("The ticket is already %(was)s.") % names
    if by == By.AGENT and allows(current, to, By.LEAD):
        return gettext("The ticket is %(was)s. Only a lead can reopen it.") % names
    return gettext("A ticket cannot move from %(was)s to %(to)s.") % names


def replace_data(ticket: Ticket, data: str | None) -> dict[str, Any]:
    """Replace all variables; None leaves them unchanged.

    Returns the facts for history, empty if nothing changed.
    """
    if data is None or data == ticket.data:
        return {}
    facts = {"variables": variables.diff(ticket.data, data)}
    ticket.data = data
    save_change(ticket, "data")
    return facts


def add_comment(ticket: Ticket, actor: Actor, text: str, *, public: bool = True) -> None:
    """Add a comment; call it after the move that it belongs to, as it stores the ticket's status.

    Notifies colleagues mentioned in a note. Raises MoveRefused for a public text of an agent with a
    user name, and TooManyComments for a company's comment on a full ticket.
    """
    if actor.by == By.COMPANY:
        check_room(ticket)
    if public:
        refuse_user_names(text, actor)
    now = timezone.now()
    comment = Comment.objects.create(
        ticket=ticket,
        by=By.COMPANY if actor.by == By.COMPANY else By.AGENT,
        actor=actor.name,
        public=public,
        text=text,
        status=ticket.status,
        created_at=now,
    )
    if public:
        ticket.updated_at, ticket.company_spoke_last = now, actor.by == By.COMPANY
        due = [] if ticket.company_spoke_last else due_dates.update_after_answer(ticket, now)
        ticket.save(update_fields=["updated_at", "company_spoke_last", *due])
        news.note_news(ticket, actor, TicketChange.REPLIED, comment=comment)
    else:
        mentions.record_mentions(ticket, comment, actor)


def refuse_user_names(text: str, actor: Actor) -> None:
    """Raise MoveRefused for a public text from the desk that has a user name."""
    from_the_desk = actor.by in (By.AGENT, By.LEAD) and actor != SANDBOX
    if from_the_desk and (refusal := mentions.user_name_refusal(text)):
        raise MoveRefused(refusal)


def save_change(ticket: Ticket, *fields: str) -> None:
    ticket.version += 1
    ticket.updated_at = timezone.now()
    ticket.save(update_fields=[*fields, "version", "updated_at"])
