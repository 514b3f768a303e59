"""Sessions of a user in all browsers: listing and ending them.

Only the encrypted data of a session names its user, so all live sessions are read: as many as
people signed in within the last hours. Django's table is authoritative: a session that is not in
it is signed out.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from desk.common.session_store import SessionStore, row_digest, session_digest


class LiveSession(NamedTuple):
    """Session with its public name; only the key opens it."""

    digest: str
    data: dict[str, Any]


def live_sessions(user: User) -> list[LiveSession]:
    """Return the sessions that give a user access now; none if the user is switched off."""
    if not user.is_active:
        return []
    return [
        LiveSession(row_digest(row), data)
        for row, data in rows_of_user(user)
        if fits_password(user, data)
    ]


def end_session(user: User, digest: str) -> bool:
    """Sign a user out in one browser; returns False if they have no such session."""
    keys = [row.pk for row, _ in rows_of_user(user) if row_digest(row) == digest]
    return Session.objects.filter(pk__in=keys).delete()[0] > 0


def end_others(user: User, key_to_keep: str | None) -> int:
    """End all sessions of a user except the one with this key; returns the number ended."""
    own = session_digest(key_to_keep) if key_to_keep else ""
    others = [row.pk for row, _ in rows_of_user(user) if row_digest(row) != own]
    return Session.objects.filter(pk__in=others).delete()[0]


def rows_of_user(user: User) -> Iterator[tuple[Session, dict[str, Any]]]:
    store = SessionStore()
    for row in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        data = store.decode(row.session_data)
        if data.get(SESSION_KEY) == str(user.pk):
            yield row, data


def fits_password(user: User, data: dict[str, Any]) -> bool:
    """Tell whether a session is still valid: a password change invalidates earlier ones."""
    session_hash = data.get(HASH_SESSION_KEY, "")
    valid_hashes = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return any(constant_time_compare(session_hash, each) for each in valid_hashes)
