"""A user's sessions, and the acts that end them."""

from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext

from companies import audit
from companies.models import AuditEntry
from desk.common import sessions
from desk.common.session_store import session_digest
from desk.models import SeenSession
from desk.people.gate import OWES
from tickets.models import Agent


class ListedSession(NamedTuple):
    """`unfinished`: the password was right, and the second factor is still owed."""

    digest: str
    device: str
    address: str | None
    began_at: datetime | None
    seen_at: datetime | None
    own: bool
    unfinished: bool


def list_sessions(user: User, own_key: str | None) -> list[ListedSession]:
    """Those that live, that with `own_key` first, then the one that was seen last."""
    live = sessions.live_sessions(user)
    seen = SeenSession.objects.in_bulk([one.digest for one in live])
    own = session_digest(own_key) if own_key else ""
    listed = [listed_session(one, seen.get(one.digest), own=one.digest == own) for one in live]
    return sorted(listed, key=lambda one: (not one.own, -seconds_of(one.seen_at)))


def seconds_of(at: datetime | None) -> float:
    return at.timestamp() if at else 0.0


def listed_session(
    one: sessions.LiveSession, seen: SeenSession | None, *, own: bool
) -> ListedSession:
    return ListedSession(
        digest=one.digest,
        device=device_words(seen),
        address=seen.address if seen else None,
        began_at=seen.began_at if seen else None,
        seen_at=seen.seen_at if seen else None,
        own=own,
        unfinished=OWES in one.data,
    )


def device_words(seen: SeenSession | None) -> str:
    if seen is None or not (seen.browser or seen.system):
        return gettext("Unknown browser")
    if not (seen.browser and seen.system):
        return seen.browser or seen.system
    words = {"browser": seen.browser, "system": seen.system}
    return gettext("%(browser)s on %(system)s") % words


def may_end(actor: User, user: User) -> bool:
    """Whether the actor sees and ends the user's sessions: own ones; those of anybody but a
    superuser, who may change users; those of agents, who may change agents.
    """
    if actor.pk == user.pk or actor.is_superuser:
        return True
    if user.is_superuser:
        return False
    return actor.has_perm("auth.change_user") or (
        actor.has_perm("tickets.change_agent") and Agent.objects.filter(user=user).exists()
    )


@transaction.atomic
def end_one(user: User, digest: str, *, by: User) -> int:
    """Sign a user out in one browser; returns how many ended: one, or none if it had ended."""
    ended = int(sessions.end_session(user, digest))
    note_ended(user, ended, by)
    return ended


@transaction.atomic
def end_all(user: User, *, kept: str | None, by: User) -> int:
    """Sign a user out, but in the session with the key `kept`; returns how many ended."""
    ended = sessions.end_others(user, kept)
    note_ended(user, ended, by)
    return ended


def end_everywhere(user: User, *, dry_run: bool = False) -> int:
    """Sign a user out in every browser, as an operator's command does; returns how many ended."""
    return len(sessions.live_sessions(user)) if dry_run else sessions.end_others(user, None)


def note_ended(user: User, ended: int, by: User) -> None:
    if ended:
        audit.record_act(
            "end_sessions",
            actor=by.get_username(),
            via=AuditEntry.Via.DESK,
            about=f"user {user.get_username()}",
            details={"ended": ended},
        )
