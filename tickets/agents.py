"""The people who work tickets: who they are and what they may do."""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from companies import doorbell
from tickets.changes.actors import NotAllowed
from tickets.models import Agent, TicketType
from tickets.roles import group

CHANGE = "tickets.change_agent"


class BadAgent(ValueError):
    """Such an agent cannot be made; the message says why."""


@transaction.atomic
def create_agent(
    username: str,
    password: str,
    *,
    email: str = "",
    skills: Collection[int] = (),
    capacity: int | None = None,
    lead: bool = False,
) -> Agent:
    """Make a user who signs in to the desk, and the agent they are. Raises BadAgent."""
    user = User(username=username, email=email, is_staff=True)
    user.set_password(password)
    agent = Agent(user=user, **({} if capacity is None else {"capacity": capacity}))
    try:
        user.full_clean()
        agent.full_clean(exclude=["user"])
        validate_password(password, user)
    except ValidationError as error:
        raise BadAgent(" ".join(error.messages)) from error
    types = TicketType.objects.filter(pk__in=skills)
    if unknown := set(skills) - {one.pk for one in types}:
        raise BadAgent(f"There is no ticket type {min(unknown)}.")
    user.save()
    user.groups.add(group("lead" if lead else "agent"))
    agent.save()
    agent.skills.set(types)
    wake_assignment()
    return agent


def change_agent(agent: Agent, fields: Collection[str]) -> None:
    """Save these fields of an agent, who may now take what waits."""
    agent.save(update_fields=fields)
    wake_assignment()


def set_available(agent: Agent, available: bool, *, user: User) -> None:
    """Agents come and go by themselves, leads send anybody. Raises NotAllowed.

    Open tickets stay where they are: a break is short.
    """
    if not user.is_active or (agent.user_id != user.pk and not user.has_perm(CHANGE)):
        text = gettext("%(name)s is not allowed to change whether %(agent)s is available.")
        raise NotAllowed(text % {"name": user.get_username(), "agent": agent})
    agent.available = available
    change_agent(agent, ["available"])


def wake_assignment() -> None:
    """Let the tickets that wait find whoever has just become free, once that is committed."""
    transaction.on_commit(ring_assignment, robust=True)


def ring_assignment() -> None:
    doorbell.ring("tickets.tasks.assign_waiting")
