"""Agents who follow a ticket that is not theirs, and whom something on a ticket concerns.

Whatever concerns agents is said here, in the transaction in which it happens: `agents_concerned`
is sent with the ticket, the agents, an `AgentConcern` and the actor. What notifies them listens.
"""

from collections.abc import Iterable
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone
from django.utils.translation import gettext

from tickets.changes.actors import Actor, NotAllowed, actor_for
from tickets.models import Agent, Ticket, Watch
from tickets.statuses import By

agents_concerned = Signal()


class AgentConcern(StrEnum):
    """Why something on a ticket concerns an agent."""

    ASSIGNED = "assigned"
    MENTIONED = "mentioned"
    # The company answered, or the ticket was decided.
    WATCHED = "watched"


def watcher(user: User) -> Agent:
    """Raises NotAllowed for those who do not work on tickets."""
    actor_for(user)
    agent = Agent.objects.filter(user=user).first()
    if agent is None:
        raise NotAllowed(
            gettext("%(user)s is not an agent and cannot watch tickets.")
            % {"user": user.get_username()}
        )
    return agent


@transaction.atomic
def start_watching(ticket_id: int, *, user: User) -> None:
    """Notify the agent of what becomes of a ticket; again changes nothing.

    Raises Ticket.DoesNotExist and NotAllowed.
    """
    agent = watcher(user)
    watch_for(Ticket.objects.only("pk").get(pk=ticket_id), [agent])


def stop_watching(ticket_id: int, *, user: User) -> None:
    """Notify the agent no more. Raises NotAllowed."""
    Watch.objects.filter(ticket=ticket_id, agent=watcher(user)).delete()


def watch_for(ticket: Ticket, agents: Iterable[Agent]) -> None:
    now = timezone.now()
    Watch.objects.bulk_create(
        [Watch(ticket=ticket, agent=agent, created_at=now) for agent in agents],
        ignore_conflicts=True,
    )


def tell_agents(ticket: Ticket, agents: Iterable[Agent], concern: AgentConcern, by: Actor) -> None:
    """Say that something concerns these agents. Nobody is told of their own acts."""
    others = [one for one in agents if by.name != str(one) or by.by not in (By.AGENT, By.LEAD)]
    if others:
        agents_concerned.send(Ticket, ticket=ticket, agents=others, concern=concern, by=by)


def tell_watchers(ticket: Ticket, by: Actor) -> None:
    watchers = Agent.objects.filter(watches__ticket=ticket, user__is_active=True)
    tell_agents(ticket, watchers.select_related("user").order_by("pk"), AgentConcern.WATCHED, by)
