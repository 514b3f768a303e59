"""Agents: creating and changing them, and their availability."""

from collections.abc import Callable, Collection, Mapping

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from core.jobs import doorbell
from tickets.changes.actors import NotAllowed
from tickets.models import Agent, TicketType
from tickets.roles import group

CHANGE = "tickets.change_agent"


class BadAgent(ValueError):
    """Invalid agent; `fields` has the error messages by field."""

    def __init__(self, message: str, fields: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.fields = fields or {}


@transaction.atomic
def create_agent(
    username: str,
    password: str | None,
    *,
    email: str = "",
    names: tuple[str, str] = ("", ""),
    skills: Collection[int] = (),
    capacity: int | None = None,
    time_zone: str = "",
    lead: bool = False,
) -> Agent:
    """Create an agent and the user who signs in to the desk. Raises BadAgent.

    `names` are the first and last name. An agent without a password starts as unavailable.
    """
    first, last = names
    user = User(username=username, email=email, first_name=first, last_name=last, is_staff=True)
    user.set_password(password)
    values = {"capacity": capacity, "time_zone": time_zone or None}
    agent = Agent(user=user, **{name: value for name, value in values.items() if value is not None})
    agent.available = password is not None
    check_agent(agent, password)
    types = TicketType.objects.filter(pk__in=skills)
    if unknown := set(skills) - {one.pk for one in types}:
        text = gettext("There is no ticket type %(type)d.") % {"type": min(unknown)}
        raise BadAgent(text, {"skills": [text]})
    user.save()
    user.groups.add(group("lead" if lead else "agent"))
    agent.save()
    agent.skills.set(types)
    wake_assignment()
    return agent


def check_agent(agent: Agent, password: str | None) -> None:
    """Validate an agent and their password. Raises BadAgent with all errors by field."""
    problems: dict[str, list[str]] = {}
    checks: list[tuple[str, Callable[[], object]]] = [
        ("", agent.user.full_clean),
        ("", lambda: agent.full_clean(exclude=["user"])),
    ]
    if password is not None:
        checks.append(("password", lambda: validate_password(password, agent.user)))
    for field, check in checks:
        try:
            check()
        except ValidationError as error:
            problems |= {field: error.messages} if field else error.message_dict
    if problems:
        raise BadAgent(" ".join(text for texts in problems.values() for text in texts), problems)


def change_agent(agent: Agent, fields: Collection[str]) -> None:
    """Save these fields of an agent and reassign waiting tickets."""
    agent.save(update_fields=fields)
    wake_assignment()


def make_available(user: User) -> None:
    """Make an invited agent available once they have signed in; ignore other users."""
    if agent := Agent.objects.filter(user=user).first():
        agent.available = True
        change_agent(agent, ["available"])


def set_available(agent: Agent, available: bool, *, user: User) -> None:
    """Set an agent's availability; only the agent or a lead may. Raises NotAllowed.

    Open tickets stay with the agent, as breaks are short.
    """
    if not user.is_active or (agent.user_id != user.pk and not user.has_perm(CHANGE)):
        text = gettext("%(name)s is not allowed to change whether %(agent)s is available.")
        raise NotAllowed(text % {"name": user.get_username(), "agent": agent})
    agent.available = available
    change_agent(agent, ["available"])


def wake_assignment() -> None:
    """Run automatic assignment as soon as the transaction is committed."""
    transaction.on_commit(ring_assignment, robust=True)


def ring_assignment() -> None:
    doorbell.ring_job("assign_waiting")
