"""Who acts on tickets, and whether they may."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext

from tickets.statuses import By


class NotAllowed(Exception):
    """This person does not work on tickets."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts; `name` is a token's prefix or a username, for agents' eyes only."""

    by: By
    name: str = ""


SYSTEM = Actor(By.SYSTEM)
# Who moves tickets in the test environment: their company, which plays the desk.
SANDBOX = Actor(By.LEAD, "sandbox")


def user_named(username: str) -> User:
    """Raises NotAllowed."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise NotAllowed(gettext("There is no agent %(name)s.") % {"name": username})
    return user


def leads() -> QuerySet[User]:
    """The active users who lead; no superusers, who are there for the installation."""
    return User.objects.with_perm(
        "tickets.reopen_ticket",
        include_superusers=False,
        backend="django.contrib.auth.backends.ModelBackend",
    )


def actor_for(user: User) -> Actor:
    """The user as history will name them. Raises NotAllowed.

    Asked here as well as by the pages: a page that forgets to ask must not open the door.
    """
    if not user.is_active or not user.has_perm("tickets.change_ticket"):
        text = gettext("%(name)s is not allowed to work on tickets.")
        raise NotAllowed(text % {"name": user.get_username()})
    by = By.LEAD if user.has_perm("tickets.reopen_ticket") else By.AGENT
    return Actor(by, user.get_username())
