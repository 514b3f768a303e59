"""Watching of tickets by agents to whom they are not assigned."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from tickets.changes.actors import NotAllowed, actor_for
from tickets.models import Agent, Ticket, Watch


def watcher(user: User) -> Agent:
    """Return the user's agent. Raises NotAllowed if they may not watch tickets."""
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
    """Subscribe an agent to a ticket (idempotent).

    Raises Ticket.DoesNotExist and NotAllowed.
    """
    agent = watcher(user)
    watch_for(Ticket.objects.only("pk").get(pk=ticket_id), [agent])


def stop_watching(ticket_id: int, *, user: User) -> None:
    """Unsubscribe an agent from a ticket (idempotent). Raises NotAllowed."""
    Watch.objects.filter(ticket=ticket_id, agent=watcher(user)).delete()


def watch_for(ticket: Ticket, agents: Iterable[Agent]) -> None:
    now = timezone.now()
    Watch.objects.bulk_create(
        [Watch(ticket=ticket, agent=agent, created_at=now) for agent in agents],
        ignore_conflicts=True,
    )
