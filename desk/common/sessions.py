"""The sessions of a user, in whatever browsers they are signed in.

A session does not say whose it is but in what it holds, so all that live are read: as many as
people signed in within the last hours. Django's table is the truth; whoever is not in it is signed
out.
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
    """A session as others may know it: by the digest of its key, and the key alone opens it."""

    digest: str
    data: dict[str, Any]


def live_sessions(user: User) -> list[LiveSession]:
    """Those that open the desk to this user now: none of somebody who is switched off."""
    if not user.is_active:
        return []
    return [
        LiveSession(row_digest(row), data)
        for row, data in rows_of_user(user)
        if fits_password(user, data)
    ]


def end_session(user: User, digest: str) -> bool:
    """Sign a user out in one browser; False if there is no such session of theirs."""
    keys = [row.pk for row, _ in rows_of_user(user) if row_digest(row) == digest]
    return Session.objects.filter(pk__in=keys).delete()[0] > 0


def end_others(user: User, kept: str | None) -> int:
    """Sign a user out everywhere but in the session with this key; returns how many ended."""
    own = session_digest(kept) if kept else ""
    theirs = [row.pk for row, _ in rows_of_user(user) if row_digest(row) != own]
    return Session.objects.filter(pk__in=theirs).delete()[0]


def rows_of_user(user: User) -> Iterator[tuple[Session, dict[str, Any]]]:
    store = SessionStore()
    for row in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        data = store.decode(row.session_data)
        if data.get(SESSION_KEY) == str(user.pk):
            yield row, data


def fits_password(user: User, data: dict[str, Any]) -> bool:
    """Another password has closed what was opened with the one before."""
    noted = data.get(HASH_SESSION_KEY, "")
    right = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return any(constant_time_compare(noted, each) for each in right)
