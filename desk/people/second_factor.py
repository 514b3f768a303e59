"""A second factor for who wants one: a code of their phone, or one of ten that are kept on paper.

Devices are django-otp's. Their secrets are shown while they are set up, and never again.
"""

import hashlib
import logging
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django_otp.models import ThrottlingMixin
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from desk.people import sessions

logger = logging.getLogger(__name__)

CODES = 10
# A key that is not confirmed is of no use after that.
SETUP_LASTS = timedelta(minutes=10)
# No letter that looks like another one: they are copied by hand.
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
LENGTH = 12


class Refused(Exception):
    """The code is not right, or too many were tried; the message says which."""


def is_on(user: User) -> bool:
    return TOTPDevice.objects.filter(user=user, confirmed=True).exists()


@transaction.atomic
def begin_setup(user: User) -> TOTPDevice:
    """A new device that waits to be confirmed, in the place of any that does. Raises Refused.

    Ask for the password first: whoever sees the key can make codes once it is confirmed.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if is_on(user):
        raise Refused("The second factor is already on.")
    TOTPDevice.objects.filter(user=user, confirmed=False).delete()
    device: TOTPDevice = TOTPDevice.objects.create(user=user, name="phone", confirmed=False)
    return device


def pending_device(user: User, device_id: int | None) -> TOTPDevice | None:
    """The device that was begun in this session and is not confirmed; None once it is too old."""
    since = timezone.now() - SETUP_LASTS
    begun = TOTPDevice.objects.filter(user=user, confirmed=False, created_at__gt=since)
    return begun.filter(pk=device_id).first()


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
        if device is not None and device.verify_token(normalise_code(code)):
            device.confirmed = True
            device.save(update_fields=["confirmed"])
            sessions.end_others(user, session_key)
            logger.info("%s has switched on a second factor", user.get_username())
            return make_codes(user)
    raise Refused(refusal_text(device))


def check_code(user: User, code: str) -> None:
    """Take a phone's code, or one of the recovery codes, which is spent then. Raises Refused."""
    code = normalise_code(code)
    model = TOTPDevice if code.isdigit() and len(code) == 6 else StaticDevice
    with transaction.atomic():
        device = model.objects.select_for_update().filter(user=user, confirmed=True).first()
        if device is not None:
            right = device.verify_token(code if model is TOTPDevice else code_digest(code))
            if right:
                return
    raise Refused(refusal_text(device))


def refusal_text(device: ThrottlingMixin | None) -> str:
    """What to tell somebody whose code is refused."""
    if device is not None and not device.verify_is_allowed()[0]:
        return "The code is incorrect. Wait before you try again; each wait is longer."
    return "The code is incorrect."


@transaction.atomic
def remove_devices(user: User) -> bool:
    """Forget a user's devices and codes; False if there were none."""
    had = is_on(user)
    TOTPDevice.objects.filter(user=user).delete()
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
    return "".join(code.split()).replace("-", "").lower()
