"""Webhooks that the service itself pauses, and the email that says why (decisions W19, W21)."""

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone, translation
from django.utils.translation import gettext, gettext_noop

from core.jobs.failing_rows import FailingRows, forget_old_rows
from core.mailing import outbox
from deliveries.models import Health
from webhooks import services
from webhooks.models import Webhook

logger = logging.getLogger(__name__)

PATIENCE = timedelta(days=5)
RECEIVER_GONE = gettext_noop("The receiver answered 410 Gone.")
FAILING = gettext_noop("No delivery has succeeded for 5 days.")
CRASHING = gettext_noop(
    "Our own process ended several times while it sent to this webhook. We are looking into it."
)


def pause_gone(webhook_id: int) -> None:
    """Pause a webhook whose receiver answered 410."""
    pause_and_notify(webhook_id, RECEIVER_GONE)


def pause_failing() -> int:
    """Pause webhooks that have only failed for PATIENCE; returns their number."""
    before = timezone.now() - PATIENCE
    failing = (
        Health.objects.filter(failing_since__lt=before, webhook__active=True)
        .filter(webhook__company__active=True)
        .filter(Q(webhook__resumed_at=None) | Q(webhook__resumed_at__lt=before))
        .filter(webhook__deleted_at=None)
        .values_list("webhook_id", flat=True)
    )
    forget_old_rows()
    rows = FailingRows("pause_failing")
    paused = 0

    def pause(webhook_ids: Sequence[int]) -> None:
        nonlocal paused
        paused += sum(pause_and_notify(webhook_id, FAILING) for webhook_id in webhook_ids)

    for webhook_id in failing:
        rows.do("webhook", [webhook_id], pause)
    if paused:
        outbox.ring_mail_job()
    return paused


def pause_and_notify(webhook_id: int, reason: str) -> bool:
    """Pause a webhook and queue the email about it; returns False if it was already paused."""
    with transaction.atomic():
        if not services.pause(webhook_id, reason):
            return False
        webhook = Webhook.objects.select_related("company").get(pk=webhook_id)
        if address := webhook.company.contact_email:
            with translation.override(webhook.company.written_language):
                outbox.enqueue_mail(address, *pause_letter(webhook, reason))
    text = "webhook %d is paused: %s"
    logger.info(text, webhook_id, reason, extra={"webhook_id": webhook_id})
    return True


def pause_letter(webhook: Webhook, reason: str) -> tuple[str, str]:
    """Return the subject and the text of the email, in the active language."""
    facts = {"id": webhook.pk, "url": webhook.url, "reason": gettext(reason)}
    text = gettext(
        "We have paused webhook %(id)d (%(url)s).\n"
        "\n"
        "%(reason)s\n"
        "\n"
        "Nothing is lost: its deliveries wait. Once the receiver works again, set the webhook's\n"
        '"active" to 1 (PUT /webhooks/%(id)d) and they are sent, in order.\n'
    )
    return gettext("Webhook %(id)d is paused") % facts, text % facts
