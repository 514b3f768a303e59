"""The people who work tickets: who they are and what they may do."""

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
    """Such an agent cannot be made; the message says why, `fields` which field is wrong."""

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
    """Make a user who signs in to the desk, and the agent they are. Raises BadAgent.

    `names` are the first and last name. Whoever has no password yet is away.
    """
    first, last = names
    user = User(username=username, email=email, first_name=first, last_name=last, is_staff=True)
    user.set_password(password)
    given = {"capacity": capacity, "time_zone": time_zone or None}
    agent = Agent(user=user, **{name: value for name, value in given.items() if value is not None})
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
    """Raises BadAgent with all that is wrong, by field."""
    wrong: dict[str, list[str]] = {}
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
            wrong |= {field: error.messages} if field else error.message_dict
    if wrong:
        raise BadAgent(" ".join(text for texts in wrong.values() for text in texts), wrong)


def change_agent(agent: Agent, fields: Collection[str]) -> None:
    """Save these fields of an agent, who may now take what waits."""
    agent.save(update_fields=fields)
    wake_assignment()


def begin_work(user: User) -> None:
    """Who was invited is here: an agent may take what waits from now on."""
    if agent := Agent.objects.filter(user=user).first():
        agent.available = True
        change_agent(agent, ["available"])


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
    doorbell.ring_job("assign_waiting")
