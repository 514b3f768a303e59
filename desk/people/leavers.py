"""What is kept of people who worked at the desk, once they have left.

Why the user name stays: decision page desk-people-who-left-keep-their-user-name.
"""

from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from core.models import Mail
from desk.common import sessions
from desk.models import Invitation, Preferences, SavedView, SeenSession, SignOn, Visit
from desk.people import second_factor
from tickets.models import Absence, Notification, Watch


class StillHere(ValueError):
    """The user is not switched off."""


def forget_user(user: User, *, dry_run: bool = False) -> dict[str, int]:
    """Forget a user who was switched off, but for the user name; returns how many rows went.

    Name, email address, password, second factor, sign-ins, sessions and what they had for
    themselves go. What they did stays under the user name, and views that they share stay. It
    cannot be undone, and may be done again. Raises StillHere.
    """
    with transaction.atomic():
        kept = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if kept.is_active:
            raise StillHere(f"{kept.username} is active; switch the user off first.")
        counts = {name: rows.count() for name, rows in personal_rows(kept).items()}
        if dry_run:
            return counts
        for rows in personal_rows(kept).values():
            rows.delete()
        sessions.end_others(kept, None)
        second_factor.remove_devices(kept)
        kept.first_name = kept.last_name = kept.email = ""
        kept.last_login = None
        kept.set_unusable_password()
        kept.save(update_fields=["first_name", "last_name", "email", "last_login", "password"])
    return counts


def personal_rows(user: User) -> dict[str, QuerySet[Any]]:
    """Rows about a person and nobody else, by what they are."""
    found: dict[str, QuerySet[Any]] = {
        "sign-ins": AccessLog.objects.filter(username__iexact=user.username),
        "wrong passwords": AccessAttempt.objects.filter(username__iexact=user.username),
        "failed sign-ins": AccessFailureLog.objects.filter(username__iexact=user.username),
        "seen sessions": SeenSession.objects.filter(user=user),
        "sign-on accounts": SignOn.objects.filter(user=user),
        "invitations": Invitation.objects.filter(user=user),
        "preferences": Preferences.objects.filter(user=user),
        "saved views": SavedView.objects.filter(owner=user, shared=False),
        "visits": Visit.objects.filter(user=user),
        "notifications": Notification.objects.filter(recipient=user),
        "watches": Watch.objects.filter(agent__user=user),
        "absences": Absence.objects.filter(agent__user=user),
    }
    if user.email:
        found["emails that wait"] = Mail.objects.filter(address__iexact=user.email)
    return found
