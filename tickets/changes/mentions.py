"""Mentions of agents in notes: resolution, notification, and refusal in public texts.

An agent is mentioned by their user name, or by its first part or their first name if that is
unique. Companies must never read a user name, so public texts cannot contain one.
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

# The lookbehind excludes email addresses and URLs. A user name may itself contain an @.
MENTION = re.compile(r"(?<![\w@.+/-])@([\w.+-]+(?:@[\w.+-]+)?)")
FIRST_PART = re.compile(r"[._@+-]")
# Further names in a text are ignored.
MOST_NAMES = 20
LONGEST_NAME = 150


class Colleague(NamedTuple):
    """Active agent, with the names by which they can be mentioned."""

    agent_id: int
    username: str
    first_name: str

    def is_called(self, name: str) -> bool:
        """Match part of a case-folded name."""
        return name in (fold_name(FIRST_PART.split(self.username)[0]), fold_name(self.first_name))


class Mentions(NamedTuple):
    """Mentions in a text: ids of agents by written name, and names without a unique agent."""

    agents: dict[str, int]
    unknown: list[str]


def fold_name(name: str) -> str:
    """Case-fold a name and remove its accents."""
    apart = unicodedata.normalize("NFKD", name.strip())
    return "".join(one for one in apart if not unicodedata.combining(one)).casefold()


def find_names(text: str) -> list[str]:
    """Return the distinct names after an @, without trailing points and dashes."""
    names = (match[1].rstrip(".+-")[:LONGEST_NAME] for match in MENTION.finditer(text))
    return list(dict.fromkeys(filter(None, names)))[:MOST_NAMES]


def colleagues() -> list[Colleague]:
    active = Agent.objects.filter(user__is_active=True).by_name()
    return [
        Colleague(*row) for row in active.values_list("pk", "user__username", "user__first_name")
    ]


def match_name(name: str, among: Iterable[Colleague]) -> list[Colleague]:
    """Return the agent with exactly this user name, else all with it as part of their name."""
    folded = fold_name(name)
    agents = list(among)
    exact = [one for one in agents if fold_name(one.username) == folded]
    return exact or [one for one in agents if folded and one.is_called(folded)]


def resolve_mentions(text: str) -> Mentions:
    """Resolve the mentions in a text, with one query if it has any."""
    agents: dict[str, int] = {}
    unknown = []
    names = find_names(text)
    active = colleagues() if names else []
    for name in names:
        matches = match_name(name, active)
        if len(matches) == 1:
            agents[name] = matches[0].agent_id
        else:
            unknown.append(name)
    return Mentions(agents, unknown)


def record_mentions(ticket: Ticket, note: Comment, by: Actor) -> None:
    """Store the mentions in a new note; the agents start to watch its ticket and are notified."""
    mentioned = resolve_mentions(note.text).agents
    if not mentioned:
        return
    Mention.objects.bulk_create(
        Mention(comment=note, agent_id=agent_id, written=name)
        for name, agent_id in mentioned.items()
    )
    others = Agent.objects.filter(pk__in=set(mentioned.values())).exclude(user__username=by.name)
    watch_for(ticket, list(others))
    notify(ticket, mentioned.values(), Notification.Kind.MENTIONED, by=by)


def user_name_refusal(text: str) -> str:
    """Return why a text cannot be sent to a company, as it has a user name; "" if it can."""
    names = find_names(text)
    if not names:
        return ""
    # Folded in Python: PostgreSQL leaves some letters unchanged, and conflates the dotless i.
    usernames = {name.casefold() for name in User.objects.values_list("username", flat=True)}
    username = next((name for name in names if name.casefold() in usernames), None)
    if username is None:
        return ""
    return gettext(
        "The company would read @%(name)s, which is a user name. Take it out, or write a note"
        " instead."
    ) % {"name": username}
