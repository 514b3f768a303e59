"""Taking of unassigned tickets by agents: the most urgent, or one of their choice."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext

from tickets.assignment.picking import loads_for_history
from tickets.assignment.reassigning import (
    AssignmentRefused,
    assigned_text,
    decided_text,
    lock_and_assign,
)
from tickets.changes.actors import Actor, NotAllowed, actor_for
from tickets.changes.history import record_history
from tickets.changes.page_tokens import PageToken, require_read
from tickets.changes.snoozing import asleep_of
from tickets.history_codes import Kind, Rule
from tickets.models import Agent, PendingAnswer, Ticket
from tickets.statuses import TERMINAL


def agent_of(user: User) -> Agent:
    """Return the user's agent. Raises NotAllowed for users who work on tickets but get none."""
    agent = Agent.objects.filter(user=user).select_related("user").first()
    if agent is None:
        text = gettext("%(name)s is not an agent and cannot be assigned tickets.")
        raise NotAllowed(text % {"name": user.get_username()})
    return agent


@transaction.atomic
def take_next(user: User) -> Ticket | None:
    """Assign the most urgent unassigned ticket to the agent; None if there is none for them.

    Concurrent calls get different tickets, as locked ones are skipped. Capacity does not limit the
    agent. Raises NotAllowed and AssignmentRefused.
    """
    actor, agent = actor_for(user), agent_of(user)
    waiting = Ticket.objects.waiting().unawaited()
    if skills := list(agent.skills.values_list("pk", flat=True)):
        waiting = waiting.filter(type__in=skills)
    ticket = waiting.urgent_first().select_for_update(skip_locked=True, no_key=True).first()
    if ticket is not None:
        assign_taken(ticket, agent, actor, Rule.MOST_URGENT)
    return ticket


@transaction.atomic
def take_ticket(ticket_id: int, user: User, *, seen: PageToken | None = None) -> Ticket:
    """Assign an unassigned ticket to the agent; `seen` is the state that their page had shown.

    Raises Ticket.DoesNotExist, NotAllowed, StaleTicket and AssignmentRefused.
    """
    actor, agent = actor_for(user), agent_of(user)
    ticket = Ticket.objects.hold(ticket_id)
    require_read(ticket, seen, user)
    if ticket.agent is not None:
        raise AssignmentRefused(assigned_text(ticket.agent))
    if ticket.status in TERMINAL:
        raise AssignmentRefused(decided_text(ticket))
    assign_taken(ticket, agent, actor, Rule.AGENT_CHOICE)
    return ticket


@transaction.atomic
def take_by_reply(ticket_id: int, user: User) -> None:
    """Assign an open, unassigned ticket to the agent who has replied to it.

    Capacity is ignored, as they already work on it. Does nothing for users who are not agents.
    Raises Ticket.DoesNotExist and AssignmentRefused.
    """
    actor = actor_for(user)
    ticket = Ticket.objects.hold(ticket_id)
    agent = Agent.objects.filter(user=user).first()
    if agent is not None and ticket.agent_id is None and ticket.status not in TERMINAL:
        assign_taken(ticket, agent, actor, Rule.REPLIED)


def assign_taken(ticket: Ticket, agent: Agent, actor: Actor, rule: Rule) -> None:
    before = lock_and_assign(ticket, agent)
    ticket.version += 1
    ticket.save(update_fields=["version"])
    facts = {
        "agent": [None, before.name],
        "rule": rule.value,
        "loads": loads_for_history([before]),
    }
    record_history(ticket, actor, Kind.TAKEN, data=facts)


def next_of(agent: Agent, after: Ticket | None = None) -> Ticket | None:
    """Return the agent's running ticket next in urgency to `after`, wrapping around to the first.

    Tickets with a pending answer are skipped.
    """
    awaited = set(PendingAnswer.objects.waiting().values_list("ticket", flat=True))
    awake = Ticket.objects.running().filter(~asleep_of(agent.pk), agent=agent)
    tickets = list(awake.urgent_first()[:500])
    start = next((n for n, one in enumerate(tickets, start=1) if one == after), 0)
    rest = [*tickets[start:], *tickets[:start]]
    return next((one for one in rest if one != after and one.pk not in awaited), None)
