"""Password reset by email: requested by name or address, through a link that is valid for an hour.

The responses do not reveal whether a user exists.
Why: decision page desk-a-password-is-reset-by-mail.
"""

import logging
from collections.abc import Callable
from datetime import timedelta

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone, translation
from django.utils.crypto import salted_hmac
from django.utils.http import base36_to_int
from django.utils.translation import gettext

from companies import audit
from companies.models import AuditEntry
from core.data import locks
from core.data.old_rows import delete_in_steps
from core.mailing import outbox
from desk.common import sessions
from desk.models import ResetRequest
from desk.people.language import look_up_reading
from desk.people.mailed_links import LinkOver, link_for
from desk.people.signing_in import may_use_password

logger = logging.getLogger(__name__)

VALID_FOR = timedelta(hours=1)
# Window of the limits below. Names are mistyped once or twice; many users share one address.
WITHIN = VALID_FOR
# Requests for one name by one client, and requests by one address for any names.
OF_A_NAME = 3
OF_AN_ADDRESS = 20
# Emails to one user requested by unknown devices. Each link still works, so more are no use.
OF_A_MAILBOX = 10
# Users that share an email address; each gets an email of their own.
MOST_USERS = 5
KEPT_FOR = timedelta(days=1)


class TooManyResets(Exception):
    """Request limit reached, for this name by this client or for all names by this address."""


class ResetTokens(PasswordResetTokenGenerator):
    """Django's tokens, limited to an hour; a new password or a sign-in invalidates them."""

    key_salt = "desk.people.resets"

    def check_token(self, user: User | None, token: str | None) -> bool:
        if user is None or not token or not may_use_password(user):
            return False
        return super().check_token(user, token) and self.age(token) <= VALID_FOR

    def age(self, token: str) -> timedelta:
        """Return the age of a well-formed token."""
        created = base36_to_int(token.partition("-")[0])
        return timedelta(seconds=self._num_seconds(self._now()) - created)


reset_tokens = ResetTokens()


def are_offered() -> bool:
    """Tell whether resets are possible: email is configured and ALLOWED_HOSTS is restricted."""
    if settings.ENVIRONMENT != "production":
        return True
    printed = settings.EMAIL_BACKEND.endswith("console.EmailBackend")
    return not printed and "*" not in settings.ALLOWED_HOSTS


def ask_reset(
    name: str, *, address: str | None, device_of: Callable[[str], str | None], url: str
) -> None:
    """Mail a link to each user with this user name or email address, if any.

    `address` is the client's address, `url` the desk's base URL. `device_of` returns the device's
    name if an account has signed in on it; such a device has a limit of its own. Raises
    TooManyResets, whether or not a user exists.
    """
    with transaction.atomic():
        locks.hold(locks.LockClass.RESETS)
        users = users_named(name)
        devices = {user.pk: device_of(user.get_username()) for user in users}
        device = next(filter(None, devices.values()), None)
        count_request(name, device=device, address=address)
        for user in users:
            if devices[user.pk] is None and not count_unknown_device_mail(user):
                logger.info("%s has links enough, and gets no other", user.get_username())
                continue
            # Bypass the cache: waiting for an unreachable one would reveal that the user exists.
            with translation.override(look_up_reading(user).language):
                outbox.enqueue_mail(user.email, *reset_letter(user, url), secret=True)
            logger.info("%s gets a link to set a new password", user.get_username())
        # Ring without users as well: a hanging broker would reveal whether one exists.
        outbox.ring_mail_job()


def count_request(name: str, *, device: str | None, address: str | None) -> None:
    """Count a request. Raises TooManyResets; refused requests are not counted.

    A device on which the account has signed in is limited by its own requests only.
    """
    asker = f"device {device}" if device else f"address {address}"
    key = keyed_digest(f"{asker} {fold_name(name)}")
    address_key = None if device else address
    recent = recent_requests()
    if recent.filter(name=key).count() >= OF_A_NAME:
        raise TooManyResets
    if address_key and recent.filter(address=address_key).count() >= OF_AN_ADDRESS:
        raise TooManyResets
    record_request(key, address_key)


def count_unknown_device_mail(user: User) -> bool:
    """Count an email requested by an unknown device; returns False at the limit of the mailbox.

    The response stays the same: links of the last hour have arrived, and each works.
    """
    # A new address, password or sign-in invalidates the sent links, so counting starts again.
    key = keyed_digest(f"links of {user.pk} {user.email} {user.password} {user.last_login}")
    if recent_requests().filter(name=key).count() >= OF_A_MAILBOX:
        return False
    record_request(key, None)
    return True


def recent_requests() -> QuerySet[ResetRequest]:
    return ResetRequest.objects.filter(asked_at__gt=timezone.now() - WITHIN)


def record_request(name: str, address: str | None) -> None:
    ResetRequest.objects.create(name=name, address=address, asked_at=timezone.now())


def keyed_digest(text: str) -> str:
    return salted_hmac("desk.people.resets", text, algorithm="sha256").hexdigest()[:32]


def fold_name(name: str) -> str:
    """Fold case of a name, the same way for counting requests and for finding users."""
    return name.casefold()


def users_named(name: str) -> list[User]:
    """Return users with this user name or email address who may set a password.

    Emails go to the stored address, not to the typed one. The database folds more letters than
    `fold_name` (such as a dotless i), so its rows are compared again.
    """
    rows = User.objects.filter(Q(username__iexact=name) | Q(email__iexact=name), is_active=True)
    users = [
        user
        for user in rows.order_by("pk")
        if user.email
        and fold_name(name) in (fold_name(user.username), fold_name(user.email))
        and may_use_password(user)
    ]
    return users[:MOST_USERS]


def set_by_link(user: User, token: str, password: str) -> None:
    """Set the password and sign the user out everywhere. Raises LinkOver."""
    # Hashing is slow on purpose, so do it before locking the row.
    encoded = make_password(password)
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if not reset_tokens.check_token(locked, token):
            raise LinkOver(gettext("This link was used meanwhile, or is too old."))
        locked.password = encoded
        locked.save(update_fields=["password"])
        ended = sessions.end_others(locked, None)
        # Lift a lockout by mistyped passwords.
        AccessAttempt.objects.filter(username=locked.get_username()).delete()
        name = locked.get_username()
        audit.record_act(
            "reset_password",
            actor=name,
            via=AuditEntry.Via.DESK,
            about=f"user {name}",
            details={"sessions_ended": ended},
        )
        if locked.email:
            with translation.override(look_up_reading(locked).language):
                outbox.enqueue_mail(locked.email, *changed_letter(locked))
            outbox.ring_mail_job()


def reset_letter(user: User, url: str) -> tuple[str, str]:
    """Return subject and text in the active language."""
    text = gettext(
        "Hello %(name)s,\n\nsomebody asked for a new password for the user name %(login)s at the"
        " desk. Set it here within %(minutes)d minutes:\n\n%(link)s\n\nIf it was not you, ignore"
        " this email: your password stays as it is.\n"
    )
    words = {
        "name": user.first_name or user.get_username(),
        "login": user.get_username(),
        "minutes": VALID_FOR.seconds // 60,
        "link": link_for(user, "desk_password_reset", reset_tokens, desk=url),
    }
    return gettext("A new password for the desk"), text % words


def changed_letter(user: User) -> tuple[str, str]:
    """Return subject and text in the active language."""
    text = gettext(
        "Hello %(name)s,\n\nthe password of the user name %(login)s at the desk was changed by a"
        " link that was sent to this address. All sessions were ended.\n\nIf it was not you, tell"
        " a lead or an operator at once.\n"
    )
    words = {"name": user.first_name or user.get_username(), "login": user.get_username()}
    return gettext("Your password for the desk was changed"), text % words


def forget_requests(*, dry_run: bool = False) -> int:
    """Delete requests that no limit counts any more; returns their number."""
    old = ResetRequest.objects.filter(asked_at__lt=timezone.now() - KEPT_FOR)
    return delete_in_steps(old.order_by("asked_at"), dry_run=dry_run)
