"""Optional second factor: codes of a phone app (TOTP), or ten recovery codes on paper.

Devices are django-otp's. Secrets are shown during setup only. A phone's key is encrypted
at rest (decision page secrets-of-phones-lie-beside-their-devices).
"""

import hashlib
import logging
import math
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext
from django_otp.models import ThrottlingMixin
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.util import random_hex

from core.data.encryption import UnreadableSecret
from core.values.spellings import plain_digits
from desk.common import sessions
from tickets.models import Phone, PhoneKey

logger = logging.getLogger(__name__)

CODES = 10
# An unconfirmed key expires after this time.
SETUP_LASTS = timedelta(minutes=10)
KEY_BYTES = 20
UNREADABLE = gettext_noop(
    "The key of your phone can no longer be read. Use a recovery code, or ask an operator."
)
# Codes are copied by hand, so letters that look alike are left out.
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
LENGTH = 12


class Refused(Exception):
    """Refusal of a code: wrong, or throttled; the message says which."""


def is_on(user: User) -> bool:
    return Phone.objects.filter(user=user, confirmed=True).exists()


@transaction.atomic
def begin_setup(user: User) -> Phone:
    """Create an unconfirmed device, replacing any other unconfirmed one. Raises Refused.

    Callers check the password first: anybody who sees the key can make codes.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if is_on(user):
        raise Refused(gettext("The second factor is already on."))
    Phone.objects.filter(user=user, confirmed=False).delete()
    phone: Phone = Phone.objects.create(user=user, name="phone", confirmed=False)
    PhoneKey.objects.create(device=phone, key=random_hex(KEY_BYTES))
    return phone


def pending_device(user: User, device_id: int | None) -> Phone | None:
    """Return the unconfirmed device of this session.

    Returns None if it has expired or its key cannot be decrypted.
    """
    since = timezone.now() - SETUP_LASTS
    pending = Phone.objects.filter(user=user, confirmed=False, created_at__gt=since)
    phone = pending.filter(pk=device_id).first()
    return phone if phone and phone.is_readable() else None


def confirm_setup(
    user: User, device_id: int | None, code: str, *, session_key: str | None
) -> list[str]:
    """Switch the second factor on with a first code; returns the recovery codes, only this once.

    Ends all sessions of the user except the one with this key. Raises Refused; a wrong code counts
    towards throttling.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        device = pending_device(user, device_id)
        if device is not None:
            refuse_throttled(device)
        is_right = device is not None and device.verify_token(normalise_code(code))  # type: ignore[no-untyped-call]
        if device is not None and is_right:
            device.confirmed = True
            device.save(update_fields=["confirmed"])
            sessions.end_others(user, session_key)
            logger.info("%s has switched on a second factor", user.get_username())
            return make_codes(user)
    raise Refused(gettext("The code is incorrect."))


def check_code(user: User, code: str) -> None:
    """Verify a code of the phone, or use up a recovery code. Raises Refused."""
    code = normalise_code(code)
    model = Phone if code.isdigit() and len(code) == 6 else StaticDevice
    with transaction.atomic():
        device = model.objects.select_for_update().filter(user=user, confirmed=True).first()
        if device is not None:
            refuse_throttled(device)
            try:
                is_right = device.verify_token(code if model is Phone else code_digest(code))
            except UnreadableSecret as error:
                raise Refused(gettext(UNREADABLE)) from error
            if is_right:
                return
    raise Refused(gettext("The code is incorrect. Wait a moment before you try again."))


def refuse_throttled(device: ThrottlingMixin) -> None:
    """Raise Refused while the user must wait after wrong codes; no code is checked meanwhile."""
    allowed, why = device.verify_is_allowed()
    if not allowed and why and (until := why.get("locked_until")):
        seconds = max(1, math.ceil((until - timezone.now()).total_seconds()))
        raise Refused(
            ngettext(
                "The code was not checked, since a wrong one was tried just now. Wait %(seconds)d"
                " second and enter it again.",
                "The code was not checked, since a wrong one was tried just now. Wait %(seconds)d"
                " seconds and enter it again.",
                seconds,
            )
            % {"seconds": seconds}
        )


@transaction.atomic
def remove_devices(user: User) -> bool:
    """Delete a user's devices and codes; returns whether a second factor was on."""
    was_on = is_on(user)
    Phone.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()
    if was_on:
        logger.info("the second factor of %s is removed", user.get_username())
    return was_on


def make_codes(user: User) -> list[str]:
    """Replace the recovery codes and return the new ones; only their digests are stored."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="paper", confirmed=True)
    codes = ["".join(secrets.choice(LETTERS) for _ in range(LENGTH)) for _ in range(CODES)]
    StaticToken.objects.bulk_create(
        StaticToken(device=device, token=code_digest(code)) for code in codes
    )
    return codes


def code_digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def normalise_code(code: str) -> str:
    """Drop spaces and dashes of every kind, which appear in copied and pasted codes."""
    return "".join(sign for sign in plain_digits(code).lower() if sign.isalnum())
