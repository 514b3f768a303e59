"""Agents who follow a ticket that is not theirs."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from tickets.changes.actors import NotAllowed, actor_for
from tickets.models import Agent, Ticket, Watch


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
