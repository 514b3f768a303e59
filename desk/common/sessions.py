"""The sessions of a user, in whatever browsers they are signed in."""

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone


def end_others(user: User, kept: str | None) -> int:
    """Sign a user out everywhere but in the session with this key; returns how many ended.

    A session does not say whose it is but in what it holds, so all that live are read: as many as
    people signed in within the last hours.
    """
    live = Session.objects.filter(expire_date__gt=timezone.now()).exclude(pk=kept)
    theirs = [
        session.pk
        for session in live.iterator()
        if session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    Session.objects.filter(pk__in=theirs).delete()
    return len(theirs)
