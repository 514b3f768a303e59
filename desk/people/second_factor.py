"""A second factor for who wants one: a code of their phone, or one of ten that are kept on paper.

Devices are django-otp's. Their secrets are shown while they are set up, and never again. A phone's
key is encrypted at rest (decision page secrets-of-phones-lie-beside-their-devices).
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
# A key that is not confirmed is of no use after that.
SETUP_LASTS = timedelta(minutes=10)
KEY_BYTES = 20
UNREADABLE = gettext_noop(
    "The key of your phone can no longer be read. Use a recovery code, or ask an operator."
)
# No letter that looks like another one: they are copied by hand.
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
LENGTH = 12


class Refused(Exception):
    """The code is not right, or too many were tried; the message says which."""


def is_on(user: User) -> bool:
    return Phone.objects.filter(user=user, confirmed=True).exists()


@transaction.atomic
def begin_setup(user: User) -> Phone:
    """A new device that waits to be confirmed, in the place of any that does. Raises Refused.

    Ask for the password first: whoever sees the key can make codes once it is confirmed.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if is_on(user):
        raise Refused(gettext("The second factor is already on."))
    Phone.objects.filter(user=user, confirmed=False).delete()
    phone: Phone = Phone.objects.create(user=user, name="phone", confirmed=False)
    PhoneKey.objects.create(device=phone, key=random_hex(KEY_BYTES))
    return phone


def pending_device(user: User, device_id: int | None) -> Phone | None:
    """The device that was begun in this session and is not confirmed.

    None once it is too old, or where its key can no longer be read.
    """
    since = timezone.now() - SETUP_LASTS
    begun = Phone.objects.filter(user=user, confirmed=False, created_at__gt=since)
    phone = begun.filter(pk=device_id).first()
    return phone if phone and phone.is_readable() else None


def confirm_setup(
    user: User, device_id: int | None, code: str, *, session_key: str | None
) -> list[str]:
    """Switch it on with a first right code; returns the recovery codes, this once.

    All sessions of the user end but the one with this key. Raises Refused. What is counted against
    a wrong code stays counted.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        device = pending_device(user, device_id)
        if device is not None:
            refuse_throttled(device)
        right = device is not None and device.verify_token(normalise_code(code))  # type: ignore[no-untyped-call]
        if device is not None and right:
            device.confirmed = True
            device.save(update_fields=["confirmed"])
            sessions.end_others(user, session_key)
            logger.info("%s has switched on a second factor", user.get_username())
            return make_codes(user)
    raise Refused(gettext("The code is incorrect."))


def check_code(user: User, code: str) -> None:
    """Take a phone's code, or one of the recovery codes, which is spent then. Raises Refused."""
    code = normalise_code(code)
    model = Phone if code.isdigit() and len(code) == 6 else StaticDevice
    with transaction.atomic():
        device = model.objects.select_for_update().filter(user=user, confirmed=True).first()
        if device is not None:
            refuse_throttled(device)
            try:
                right = device.verify_token(code if model is Phone else code_digest(code))
            except UnreadableSecret as error:
                raise Refused(gettext(UNREADABLE)) from error
            if right:
                return
    raise Refused(gettext("The code is incorrect. Wait a moment before you try again."))


def refuse_throttled(device: ThrottlingMixin) -> None:
    """Raise Refused while wrong codes make the user wait, when even a right one is not checked."""
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
    """Forget a user's devices and codes; False if there were none."""
    had = is_on(user)
    Phone.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()
    if had:
        logger.info("the second factor of %s is removed", user.get_username())
    return had


def make_codes(user: User) -> list[str]:
    """New recovery codes in the place of the old; only their digests are kept."""
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
    """Drop blanks and dashes of every kind: people copy codes from paper and phones paste them."""
    return "".join(one for one in plain_digits(code).lower() if one.isalnum())
