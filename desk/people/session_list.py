"""List of a user's sessions, and the operations that end them."""

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
    """Session in a list. `unfinished` means that the second factor is still due."""

    digest: str
    device: str
    address: str | None
    began_at: datetime | None
    seen_at: datetime | None
    own: bool
    unfinished: bool


def list_sessions(user: User, own_key: str | None) -> list[ListedSession]:
    """Return live sessions: the one with `own_key` first, then by last activity."""
    live = sessions.live_sessions(user)
    records = SeenSession.objects.in_bulk([one.digest for one in live])
    own = session_digest(own_key) if own_key else ""
    rows = [listed_session(one, records.get(one.digest), own=one.digest == own) for one in live]
    return sorted(rows, key=lambda one: (not one.own, -seconds_of(one.seen_at)))


def seconds_of(at: datetime | None) -> float:
    return at.timestamp() if at else 0.0


def listed_session(
    one: sessions.LiveSession, record: SeenSession | None, *, own: bool
) -> ListedSession:
    return ListedSession(
        digest=one.digest,
        device=device_words(record),
        address=record.address if record else None,
        began_at=record.began_at if record else None,
        seen_at=record.seen_at if record else None,
        own=own,
        unfinished=OWES in one.data,
    )


def device_words(record: SeenSession | None) -> str:
    if record is None or not (record.browser or record.system):
        return gettext("Unknown browser")
    if not (record.browser and record.system):
        return record.browser or record.system
    words = {"browser": record.browser, "system": record.system}
    return gettext("%(browser)s on %(system)s") % words


def may_end(actor: User, user: User) -> bool:
    """Tell whether the actor may see and end the user's sessions.

    Users may end their own and superusers all. Permission to change users covers everybody but
    superusers, and permission to change agents covers agents.
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
    """Sign a user out in one browser; returns 1, or 0 if the session had already ended."""
    ended = int(sessions.end_session(user, digest))
    audit_ended(user, ended, by)
    return ended


@transaction.atomic
def end_all(user: User, *, key_to_keep: str | None, by: User) -> int:
    """End all sessions except the one with `key_to_keep`; returns the number ended."""
    ended = sessions.end_others(user, key_to_keep)
    audit_ended(user, ended, by)
    return ended


def end_everywhere(user: User, *, dry_run: bool = False) -> int:
    """End all sessions for an operator's command; returns the number (to be) ended."""
    return len(sessions.live_sessions(user)) if dry_run else sessions.end_others(user, None)


def audit_ended(user: User, ended: int, by: User) -> None:
    if ended:
        audit.record_act(
            "end_sessions",
            actor=by.get_username(),
            via=AuditEntry.Via.DESK,
            about=f"user {user.get_username()}",
            details={"ended": ended},
        )
