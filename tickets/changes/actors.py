"""Actors on tickets, and their permissions."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext

from tickets.statuses import By


class NotAllowed(Exception):
    """Refusal of an action that the user is not permitted to take."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Author of a change; `name` is a token's prefix or a username, shown to agents only."""

    by: By
    name: str = ""


SYSTEM = Actor(By.SYSTEM)
# Actor of moves in the test environment, where the company plays the agent.
SANDBOX = Actor(By.LEAD, "sandbox")


def user_named(username: str) -> User:
    """Return the user of this name. Raises NotAllowed if there is none."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise NotAllowed(gettext("There is no agent %(name)s.") % {"name": username})
    return user


def leads() -> QuerySet[User]:
    """Return the active leads, without superusers, who only maintain the installation."""
    return User.objects.with_perm(
        "tickets.reopen_ticket",
        include_superusers=False,
        backend="django.contrib.auth.backends.ModelBackend",
    )


def actor_for(user: User) -> Actor:
    """Return the user as an actor who may work on tickets. Raises NotAllowed.

    Services check this as well as the pages, in case a page lacks the check.
    """
    if not user.is_active or not user.has_perm("tickets.change_ticket"):
        text = gettext("%(name)s is not allowed to work on tickets.")
        raise NotAllowed(text % {"name": user.get_username()})
    by = By.LEAD if user.has_perm("tickets.reopen_ticket") else By.AGENT
    return Actor(by, user.get_username())
