"""Verification of signatures that companies received. No secret leaves this module."""

import hmac
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from django.utils.translation import gettext_noop

from core.data.encryption import UnreadableSecret
from deliveries.engine.claiming import lease_seconds
from deliveries.engine.signing import sign, timestamp_ms
from deliveries.http.answers import Failure
from deliveries.models import Attempt, Delivery, Event
from webhooks.models import Webhook


class SecretStatus(StrEnum):
    """Availability of the secret that signed an attempt."""

    NOT_SIGNED = gettext_noop("Events of this type are not signed.")
    THE_SAME = gettext_noop("The secret is unchanged, so signatures can be checked.")
    ROTATED = gettext_noop(
        "The secret has been rotated since, so signatures can no longer be checked."
    )
    PERHAPS = gettext_noop(
        "A rotation was in progress; signatures can be checked unless there was an earlier one."
    )


class Verdict(StrEnum):
    GENUINE = gettext_noop("The signature is ours and matches this body.")
    NOT_OURS = gettext_noop(
        "The signature is not ours: the body, the timestamp or the secret differs."
    )
    SECRET_LOST = gettext_noop(
        "We can no longer tell: the secret has been rotated, and no secret that we still hold made"
        " this signature."
    )
    UNREADABLE = gettext_noop("We cannot tell: a stored secret can no longer be read.")
    NOT_SIGNED = gettext_noop("Events of this type are not signed.")


def secret_status(webhook: Webhook, at: datetime, now: datetime) -> SecretStatus:
    """Return whether the secret used at a time is still stored. Only the last rotation is known."""
    if not webhook.signed:
        return SecretStatus.NOT_SIGNED
    rotated = webhook.next_secret_at
    if rotated is None:
        return SecretStatus.THE_SAME
    # A delivery is signed with the secret that its claim read, which may be as old as a lease.
    if rotated > now or rotated <= at < rotated + timedelta(seconds=lease_seconds()):
        return SecretStatus.PERHAPS
    return SecretStatus.THE_SAME if rotated <= at else SecretStatus.ROTATED


class Signature(NamedTuple):
    """X-Webhook-Timestamp and X-Webhook-Signature."""

    timestamp: str
    signature: str


def recreate_signature(
    webhook: Webhook, body: bytes, attempt: Attempt, now: datetime
) -> Signature | None:
    """Compute an attempt's signature anew; None if it is uncertain which secret made it."""
    if attempt.error == Failure.INTERNAL:
        # The request was never built.
        return None
    if secret_status(webhook, attempt.started_at, now) is not SecretStatus.THE_SAME:
        return None
    try:
        secret = webhook.secret if webhook.next_secret_at is None else webhook.next_secret
    except UnreadableSecret:
        return None
    if secret is None:
        return None
    timestamp = timestamp_ms(attempt.started_at)
    return Signature(str(timestamp), sign(secret, timestamp, webhook.type_name, body))


def check_signature(delivery: Delivery, event: Event, timestamp: str, signature: str) -> Verdict:
    """Judge X-Webhook-Timestamp and X-Webhook-Signature that a company says it received.

    Signatures are not stored: they are computed anew from the stored body, with each stored secret.
    """
    webhook = delivery.webhook
    if not webhook.signed:
        return Verdict.NOT_SIGNED
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 16):
        return Verdict.NOT_OURS
    body = bytes(event.body)
    secrets, unreadable = readable_secrets(webhook)
    for secret in secrets:
        ours = sign(secret, int(timestamp), webhook.type_name, body)
        if hmac.compare_digest(ours.encode(), signature.strip().encode()):
            return Verdict.GENUINE
    if unreadable:
        return Verdict.UNREADABLE
    return Verdict.NOT_OURS if webhook.next_secret_at is None else Verdict.SECRET_LOST


def readable_secrets(webhook: Webhook) -> tuple[list[str], bool]:
    """Return the stored signing secrets that can be read, and whether one cannot."""
    secrets: list[str] = []
    unreadable = False
    for name in ("secret", "next_secret"):
        try:
            if secret := getattr(webhook, name):
                secrets.append(secret)
        except UnreadableSecret:
            unreadable = True
    return secrets, unreadable
