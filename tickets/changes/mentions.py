"""Agents named with an @ in notes: who is meant, who is notified, and who may not be named.

An agent is called by the whole user name, or by its first part or their first name where only one
agent is called so. Companies never read a user name: a text that goes to them names none.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils.translation import gettext

from tickets.changes.actors import Actor
from tickets.changes.notifications import notify
from tickets.changes.watching import watch_for
from tickets.models import Agent, Comment, Mention, Notification, Ticket

# Not within an address of email or of the web. A user name may itself have an @ in it.
CALLED = re.compile(r"(?<![\w@.+/-])@([\w.+-]+(?:@[\w.+-]+)?)")
FIRST_PART = re.compile(r"[._@+-]")
# A text that names more is no note to colleagues.
MOST_NAMES = 20
LONGEST_NAME = 150


class Colleague(NamedTuple):
    """An active agent, and what they are called by."""

    agent_id: int
    username: str
    first_name: str

    def is_called(self, name: str) -> bool:
        """By a part of the name; the name is folded."""
        return name in (fold(FIRST_PART.split(self.username)[0]), fold(self.first_name))


class Named(NamedTuple):
    """Whom a text names: agents by what is written, and what names nobody, or more than one."""

    agents: dict[str, int]
    unknown: list[str]


def fold(name: str) -> str:
    """Without accents, in lower case."""
    apart = unicodedata.normalize("NFKD", name.strip())
    return "".join(one for one in apart if not unicodedata.combining(one)).casefold()


def names_in(text: str) -> list[str]:
    """What stands behind an @, each once. Points and dashes at the end belong to the sentence."""
    found = (match[1].rstrip(".+-")[:LONGEST_NAME] for match in CALLED.finditer(text))
    return list(dict.fromkeys(filter(None, found)))[:MOST_NAMES]


def colleagues() -> list[Colleague]:
    active = Agent.objects.filter(user__is_active=True).by_name()
    return [
        Colleague(*row) for row in active.values_list("pk", "user__username", "user__first_name")
    ]


def called(name: str, among: Iterable[Colleague]) -> list[Colleague]:
    """Those who may be meant: whoever has exactly this user name, else all who are called so."""
    folded, found = fold(name), list(among)
    whole = [one for one in found if fold(one.username) == folded]
    return whole or [one for one in found if folded and one.is_called(folded)]


def named_in(text: str) -> Named:
    """One query, for a text with an @ in it."""
    agents: dict[str, int] = {}
    unknown = []
    names = names_in(text)
    known = colleagues() if names else []
    for name in names:
        meant = called(name, known)
        if len(meant) == 1:
            agents[name] = meant[0].agent_id
        else:
            unknown.append(name)
    return Named(agents, unknown)


def record_mentions(ticket: Ticket, note: Comment, by: Actor) -> None:
    """Keep whom a new note names; they watch its ticket from now on and are notified."""
    named = named_in(note.text).agents
    if not named:
        return
    Mention.objects.bulk_create(
        Mention(comment=note, agent_id=agent_id, written=name) for name, agent_id in named.items()
    )
    others = Agent.objects.filter(pk__in=set(named.values())).exclude(user__username=by.name)
    watch_for(ticket, list(others))
    notify(ticket, named.values(), Notification.Kind.MENTIONED, by=by)


def user_name_refusal(text: str) -> str:
    """Why a company may not be sent this text: it names somebody by their user name.

    Empty where it may.
    """
    names = names_in(text)
    if not names:
        return ""
    # Folded here: the database leaves some letters as they are, and takes a dotless i for another.
    known = {name.casefold() for name in User.objects.values_list("username", flat=True)}
    told = next((name for name in names if name.casefold() in known), None)
    if told is None:
        return ""
    return gettext(
        "The company would read @%(name)s, which is a user name. Take it out, or write a note"
        " instead."
    ) % {"name": told}
