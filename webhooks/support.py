"""What people at the desk do to a company's webhooks: pause and resume, each with a line kept."""

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import transaction

from webhooks import services
from webhooks.models import Webhook

PAUSE = "webhooks.pause_webhook"
LONGEST_REASON = 300


class NotAllowed(Exception):
    """This person may not do that; the message says what."""


@transaction.atomic
def pause(webhook_id: int, reason: str, *, user: User) -> bool:
    """Pause for a reason, which the company is shown, without the name; False if it was paused.

    Raises NotAllowed, and ValueError where there is no reason or too long a one.
    """
    allow(user, PAUSE)
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise ValueError(f"Say why, in at most {LONGEST_REASON} characters.")
    if not services.pause(webhook_id, reason):
        return False
    note(user, webhook_id, f"Paused: {reason}")
    return True


@transaction.atomic
def resume(webhook_id: int, *, user: User) -> bool:
    """Let its deliveries go on; False if they did. Raises NotAllowed."""
    allow(user, PAUSE)
    was = Webhook.objects.filter(pk=webhook_id).values_list("paused_reason", flat=True).first()
    if not services.resume(webhook_id):
        return False
    note(user, webhook_id, f"Resumed. It was paused: {was}" if was else "Resumed.")
    return True


def allow(user: User, permission: str) -> None:
    # Asked here as well as by the pages: a page that forgets to ask must not open the door.
    if not user.is_active or not user.has_perm(permission):
        raise NotAllowed(f"{user.get_username()} has not the permission {permission}.")


def note(user: User, webhook_id: int, message: str) -> None:
    LogEntry.objects.log_actions(
        user.pk, Webhook.objects.filter(pk=webhook_id).only("id"), CHANGE, message
    )
