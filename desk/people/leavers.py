"""Erasure of personal data of users who have left the desk.

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


class UserStillActive(ValueError):
    """User who is still active."""


def forget_user(user: User, *, dry_run: bool = False) -> dict[str, int]:
    """Erase an inactive user except the user name; returns the number of deleted rows by kind.

    Deletes name, email address, password, second factor, sign-ins, sessions and private settings.
    Their actions stay under the user name, and so do shared views. Irreversible and idempotent.
    Raises UserStillActive.
    """
    with transaction.atomic():
        locked_user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if locked_user.is_active:
            raise UserStillActive(f"{locked_user.username} is active; switch the user off first.")
        counts = {name: rows.count() for name, rows in personal_rows(locked_user).items()}
        if dry_run:
            return counts
        for rows in personal_rows(locked_user).values():
            rows.delete()
        sessions.end_others(locked_user, None)
        second_factor.remove_devices(locked_user)
        locked_user.first_name = locked_user.last_name = locked_user.email = ""
        locked_user.last_login = None
        locked_user.set_unusable_password()
        locked_user.save(
            update_fields=["first_name", "last_name", "email", "last_login", "password"]
        )
    return counts


def personal_rows(user: User) -> dict[str, QuerySet[Any]]:
    """Return the rows that concern this user alone, by kind."""
    rows: dict[str, QuerySet[Any]] = {
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
        rows["emails that wait"] = Mail.objects.filter(address__iexact=user.email)
    return rows
