from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from companies.models import Company
from core.data.encryption import EncryptedTextField, UnreadableSecret
from webhooks.event_types import registry
from webhooks.targets import host_in


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def present(self) -> "WebhookQuerySet":
        """Exclude deleted webhooks, whose rows stay for the delivery log (decision W7)."""
        return self.filter(deleted_at=None)


class Webhook(models.Model):
    """A company's registration for one event type; without a URL it is fetched (decision N6)."""

    company = models.ForeignKey(
        Company, on_delete=models.PROTECT, related_name="webhooks", verbose_name=_("company")
    )
    type_id = models.PositiveSmallIntegerField(_("type"))
    url = models.CharField(
        max_length=2048, blank=True, help_text=_("Empty: its events are fetched.")
    )
    active = models.BooleanField(_("active"), default=True)
    paused_reason = models.CharField(
        _("paused reason"),
        max_length=300,
        blank=True,
        help_text=_("Why the service paused the webhook; empty if it did not."),
    )
    # Restarts the count of five days without a success (decision W21).
    resumed_at = models.DateTimeField(_("resumed at"), null=True, editable=False)
    max_in_flight = models.PositiveSmallIntegerField(
        _("max in flight"),
        null=True,
        blank=True,
        help_text=_("Never more requests at once; empty: as the engine finds."),
    )
    standard_headers = models.BooleanField(
        default=False,
        db_default=False,
        help_text=_("Also sign as Standard Webhooks has it."),
    )
    # Number of the newest event at registration; the stream begins after it.
    begins_after = models.BigIntegerField(default=0, db_default=0, editable=False)
    auth_token = EncryptedTextField(null=True, editable=False)
    secret = EncryptedTextField(null=True, editable=False)
    # The secret that signs from next_secret_at on, after a rotation (decision W9).
    next_secret = EncryptedTextField(null=True, editable=False)
    next_secret_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)
    deleted_at = models.DateTimeField(_("deleted at"), null=True, editable=False)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        permissions = [("pause_webhook", "Can pause and resume a webhook")]
        indexes = [
            # Used for each published event.
            models.Index(
                fields=["company", "type_id"],
                condition=Q(deleted_at=None),
                name="webhook_listening",
            ),
        ]

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def fetched(self) -> bool:
        """True if nothing is sent and the company fetches the events (decision N6)."""
        return not self.url

    @property
    def host(self) -> str:
        """Host of the URL in the form of targets.host_in; "" without a URL."""
        return host_in(self.url)

    @property
    def type_name(self) -> str:
        return registry.name(self.type_id)

    @property
    def signed(self) -> bool:
        """True if its deliveries are signed; False if no app registers its type."""
        event_type = registry.get(self.type_id)
        return event_type is not None and event_type.signed

    def signing_secret(self, now: datetime) -> str | None:
        """Return the secret to sign with at `now`; None for unsigned types (decision W9).

        Raises UnreadableSecret.
        """
        if self.next_secret_at is not None and self.next_secret_at <= now:
            return self.next_secret
        return self.secret

    def is_readable(self, now: datetime) -> bool:
        """Return whether our keys decrypt the secrets that a delivery at `now` needs."""
        try:
            _ = self.auth_token, self.signing_secret(now)
        except UnreadableSecret:
            return False
        return True
