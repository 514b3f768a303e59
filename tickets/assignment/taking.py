"""Agents take tickets by themselves: the most urgent that nobody has, or one of their choice."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext

from tickets.assignment.picking import loads_for_history
from tickets.assignment.reassigning import (
    NotGiven,
    assigned_text,
    decided_text,
    lock_and_assign,
)
from tickets.changes.actors import Actor, NotAllowed, actor_for
from tickets.changes.history import record_history
from tickets.changes.seen import Seen, require_read
from tickets.changes.snoozing import asleep_of
from tickets.history_codes import Kind, Rule
from tickets.models import Agent, PendingAnswer, Ticket
from tickets.statuses import TERMINAL


def agent_of(user: User) -> Agent:
    """Raises NotAllowed for those who work tickets and never get any."""
    agent = Agent.objects.filter(user=user).select_related("user").first()
    if agent is None:
        text = gettext("%(name)s is not an agent and cannot be assigned tickets.")
        raise NotAllowed(text % {"name": user.get_username()})
    return agent


@transaction.atomic
def take_next(user: User) -> Ticket | None:
    """Give the agent the most urgent ticket that nobody has; None where there is none for them.

    Two who ask at once get two tickets: one that is being taken is passed over. Whoever asks may
    go beyond their capacity. Raises NotAllowed and NotGiven.
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
def take_ticket(ticket_id: int, user: User, *, seen: Seen | None = None) -> Ticket:
    """Give the agent this ticket, if nobody has it; `seen` is what their page had shown.

    Raises Ticket.DoesNotExist, NotAllowed, StaleTicket and NotGiven.
    """
    actor, agent = actor_for(user), agent_of(user)
    ticket = Ticket.objects.hold(ticket_id)
    require_read(ticket, seen, user)
    if ticket.agent is not None:
        raise NotGiven(assigned_text(ticket.agent))
    if ticket.status in TERMINAL:
        raise NotGiven(decided_text(ticket))
    assign_taken(ticket, agent, actor, Rule.AGENT_CHOICE)
    return ticket


@transaction.atomic
def take_by_reply(ticket_id: int, user: User) -> None:
    """Give the ticket to the agent who has replied to it, if it is open and nobody has it.

    Their capacity does not matter: they are at work on it. Who is no agent gets nothing. Raises
    Ticket.DoesNotExist and NotGiven.
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
    """The agent's next running ticket by urgency: the one after this, round to the first.

    Those that an answer waits for are passed over.
    """
    awaited = set(PendingAnswer.objects.waiting().values_list("ticket", flat=True))
    awake = Ticket.objects.running().filter(~asleep_of(agent.pk), agent=agent)
    mine = list(awake.urgent_first()[:500])
    place = next((n for n, one in enumerate(mine, start=1) if one == after), 0)
    rest = [*mine[place:], *mine[:place]]
    return next((one for one in rest if one != after and one.pk not in awaited), None)
