"""Actions of an automation on one ticket: the same writes as an agent's, under its own name.

The ticket is locked and checked again, as its company may just have answered. A ticket that is
already locked is left to the next run.
"""

from datetime import datetime

from django.utils import timezone

from tickets.assignment import automatic
from tickets.assignment.picking import AgentLoad
from tickets.automations import texts
from tickets.automations.due import due
from tickets.changes import letters
from tickets.changes.actors import Actor, leads
from tickets.changes.history import record_history
from tickets.changes.news import ticket_service
from tickets.changes.notifications import notify
from tickets.changes.writes import add_comment, change_status
from tickets.history_codes import Kind, Rule
from tickets.models import Agent, Automation, Notification, Ticket
from tickets.statuses import By, Status

NO_ANSWER = "no_answer"


@ticket_service
def act(automation_id: int, ticket_id: int) -> bool:
    """Do what is due on a ticket; returns False if it no longer is, or the automation is off."""
    one = Automation.objects.filter(pk=automation_id, active=True).first()
    row = Ticket.objects.filter(pk=ticket_id)
    if one is None or not row.select_for_update(skip_locked=True, no_key=True).exists():
        return False
    now = timezone.now()
    # A separate statement after the lock, so that it sees what the last holder committed.
    ticket = due(one, now).select_related("company", "type").filter(pk=ticket_id).first()
    if ticket is None:
        return False
    actor = Actor(By.SYSTEM, one.actor)
    if one.kind == Automation.Kind.ESCALATE:
        escalate(ticket, one, actor)
    elif one.kind == Automation.Kind.REMIND:
        remind(ticket, one, actor, number=getattr(ticket, "reminded", 0) + 1)
    elif getattr(ticket, "last", False):
        close(ticket, one, actor)
    else:
        remind_last(ticket, one, actor, now)
    return True


def remind(ticket: Ticket, one: Automation, actor: Actor, *, number: int) -> None:
    record_history(ticket, actor, Kind.REMINDED, data={"number": number, "of": one.times})
    say(ticket, actor, texts.text_for(one, ticket.company))


def remind_last(ticket: Ticket, one: Automation, actor: Actor, now: datetime) -> None:
    record_history(ticket, actor, Kind.REMINDED, data={"last": True})
    say(ticket, actor, texts.last_reminder(one, ticket.company, now))


def say(ticket: Ticket, actor: Actor, text: str) -> None:
    add_comment(ticket, actor, text)
    letters.email_reminder(ticket, text)


def close(ticket: Ticket, one: Automation, actor: Actor) -> None:
    """Decline the ticket; the company may appeal (decision N14)."""
    reason = texts.text_for(one, ticket.company)
    change_status(
        ticket,
        Status.DECLINED,
        actor,
        reason=reason,
        reason_code=NO_ANSWER,
        data={"code": NO_ANSWER},
    )
    add_comment(ticket, actor, reason)
    letters.email_move(ticket, reason)


def escalate(ticket: Ticket, one: Automation, actor: Actor) -> None:
    """Notify leads, and if its agent is away, reassign the ticket to somebody at work."""
    due_at, former = ticket.due_at, ticket.agent
    ticket.escalated_due_at = due_at
    ticket.save(update_fields=["escalated_due_at"])
    recipients = Agent.objects.filter(user__in=leads()).values_list("pk", flat=True)
    notify(ticket, list(recipients), Notification.Kind.ESCALATED, by=actor)
    record_history(ticket, actor, Kind.ESCALATED, data={"due": due_at and due_at.isoformat()})
    at_work = Agent.objects.at_work().filter(pk=ticket.agent_id or 0).exists()
    if not one.reassigns or at_work:
        return
    choice, loads = automatic.give_to_least_busy(ticket, ticket.agent_id)
    if isinstance(choice, AgentLoad):
        facts = {"agent": [former and str(former), choice.name], "rule": Rule.LEAST_BUSY.value}
        record_history(ticket, actor, Kind.REASSIGNED, data={**facts, "loads": loads})
