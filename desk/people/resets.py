"""A new password by email: asked for by name or address, set by a link that lives for an hour.

What whoever asks is told does not say whether there is such a user.
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
# Within an hour. A name is mistyped once or twice; behind one address sit many.
WITHIN = VALID_FOR
# Requests for one name by one asker, and by one address for whatever names.
OF_A_NAME = 3
OF_AN_ADDRESS = 20
# Letters to one user that unknown devices asked for. Each of them still works, so more help nobody.
OF_A_MAILBOX = 10
# Users of one email address, each of whom gets an email of their own.
MOST_USERS = 5
KEPT_FOR = timedelta(days=1)


class TooManyResets(Exception):
    """Raised if the asker has asked for this name, or this address for any, as often as it may."""


class ResetTokens(PasswordResetTokenGenerator):
    """Django's tokens, which end with the password or the next sign-in, and after an hour."""

    key_salt = "desk.people.resets"

    def check_token(self, user: User | None, token: str | None) -> bool:
        if user is None or not token or not may_use_password(user):
            return False
        return super().check_token(user, token) and self.age(token) <= VALID_FOR

    def age(self, token: str) -> timedelta:
        """Of a token whose form is right."""
        made = base36_to_int(token.partition("-")[0])
        return timedelta(seconds=self._num_seconds(self._now()) - made)


reset_tokens = ResetTokens()


def are_offered() -> bool:
    """Not where no email leaves, nor where any Host header could stand in the link."""
    if settings.ENVIRONMENT != "production":
        return True
    printed = settings.EMAIL_BACKEND.endswith("console.EmailBackend")
    return not printed and "*" not in settings.ALLOWED_HOSTS


def ask_reset(
    name: str, *, address: str | None, device_of: Callable[[str], str | None], url: str
) -> None:
    """Write a link to whoever has this user name or email address, if there is somebody.

    `address` is where the request came from, `url` is where the desk is. `device_of` returns the
    name of the device if an account has signed in on it: such a device has a bound of its own.
    Raises TooManyResets, whether or not there is somebody.
    """
    with transaction.atomic():
        locks.hold(locks.LockClass.RESETS)
        users = users_named(name)
        devices = {user.pk: device_of(user.get_username()) for user in users}
        device = next(filter(None, devices.values()), None)
        count_request(name, device=device, address=address)
        for user in users:
            if devices[user.pk] is None and not has_room(user):
                logger.info("%s has links enough, and gets no other", user.get_username())
                continue
            # Not from the cache: one that is away would be waited for, and tell.
            with translation.override(look_up_reading(user).language):
                outbox.keep_mail(user.email, *reset_letter(user, url), secret=True)
            logger.info("%s gets a link to set a new password", user.get_username())
        # For nobody too: a broker that hangs must not tell them apart.
        outbox.ring_mail_job()


def count_request(name: str, *, device: str | None, address: str | None) -> None:
    """Raises TooManyResets. A refused request is not counted, so trying makes it no longer.

    Nobody else's requests count against a device on which the account has signed in.
    """
    asker = f"device {device}" if device else f"address {address}"
    counted = keyed_digest(f"{asker} {fold_name(name)}")
    counted_address = None if device else address
    lately = counted_lately()
    if lately.filter(name=counted).count() >= OF_A_NAME:
        raise TooManyResets
    if counted_address and lately.filter(address=counted_address).count() >= OF_AN_ADDRESS:
        raise TooManyResets
    note_count(counted, counted_address)


def has_room(user: User) -> bool:
    """Count a letter that an unknown device asked for; False if the mailbox has enough of them.

    Whoever asks reads the same answer. The letters of the last hour are there, and each works.
    """
    # Another address, password or sign-in ends the links that were sent, and begins anew.
    counted = keyed_digest(f"links of {user.pk} {user.email} {user.password} {user.last_login}")
    if counted_lately().filter(name=counted).count() >= OF_A_MAILBOX:
        return False
    note_count(counted, None)
    return True


def counted_lately() -> QuerySet[ResetRequest]:
    return ResetRequest.objects.filter(asked_at__gt=timezone.now() - WITHIN)


def note_count(name: str, address: str | None) -> None:
    ResetRequest.objects.create(name=name, address=address, asked_at=timezone.now())


def keyed_digest(text: str) -> str:
    return salted_hmac("desk.people.resets", text, algorithm="sha256").hexdigest()[:32]


def fold_name(name: str) -> str:
    """Fold a name in the one way by which requests are both counted and matched to users."""
    return name.casefold()


def users_named(name: str) -> list[User]:
    """Return users who may set a password, and have this user name or email address.

    A letter goes to the address that is stored, not to the one that was typed. The database folds
    more letters than `fold_name` does (a dotless i), so its rows are compared again.
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
    # Slow on purpose: not while the row is locked.
    encoded = make_password(password)
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if not reset_tokens.check_token(locked, token):
            raise LinkOver(gettext("This link was used meanwhile, or is too old."))
        locked.password = encoded
        locked.save(update_fields=["password"])
        ended = sessions.end_others(locked, None)
        # Whoever mistyped until they were locked out gets in.
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
                outbox.keep_mail(locked.email, *changed_letter(locked))
            outbox.ring_mail_job()


def reset_letter(user: User, url: str) -> tuple[str, str]:
    """Subject and text, in the language that is on."""
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
    """Subject and text, in the language that is on."""
    text = gettext(
        "Hello %(name)s,\n\nthe password of the user name %(login)s at the desk was changed by a"
        " link that was sent to this address. All sessions were ended.\n\nIf it was not you, tell"
        " a lead or an operator at once.\n"
    )
    words = {"name": user.first_name or user.get_username(), "login": user.get_username()}
    return gettext("Your password for the desk was changed"), text % words


def forget_requests(*, dry_run: bool = False) -> int:
    """Delete the requests that no bound counts any more; returns how many."""
    old = ResetRequest.objects.filter(asked_at__lt=timezone.now() - KEPT_FOR)
    return delete_in_steps(old.order_by("asked_at"), dry_run=dry_run)
