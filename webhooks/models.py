from datetime import datetime

from django.db import models
from django.db.models import Q

from companies.models import Company
from webhooks.encryption import EncryptedTextField
from webhooks.event_types import registry


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def present(self) -> "WebhookQuerySet":
        """Not deleted. A deleted webhook stays for its delivery log (decision W7)."""
        return self.filter(deleted_at=None)


class Webhook(models.Model):
    """A company's standing order: send events of one type to a URL."""

    company = models.ForeignKey(Company, on_delete=models.PROTECT, related_name="webhooks")
    type_id = models.PositiveSmallIntegerField("type")
    url = models.CharField(max_length=2048)
    active = models.BooleanField(default=True)
    paused_reason = models.CharField(
        max_length=300,
        blank=True,
        help_text="Why the service paused the webhook; empty if it did not.",
    )
    # The five days without success of decision W21 begin anew when it is resumed.
    resumed_at = models.DateTimeField(null=True, editable=False)
    auth_token = EncryptedTextField(null=True, editable=False)
    secret = EncryptedTextField(null=True, editable=False)
    # A rotated secret waits here until it signs (decision W9).
    next_secret = EncryptedTextField(null=True, editable=False)
    next_secret_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, editable=False)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        permissions = [("pause_webhook", "Can pause and resume a webhook")]
        indexes = [
            # Publishing looks here for every event.
            models.Index(
                fields=["company", "type_id"],
                condition=Q(deleted_at=None),
                name="webhook_listening",
            ),
        ]

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def type_name(self) -> str:
        return registry.name(self.type_id)

    @property
    def signed(self) -> bool:
        """Whether its deliveries are signed; False where nobody registered its type."""
        event_type = registry.get(self.type_id)
        return event_type is not None and event_type.signed

    def signing_secret(self, now: datetime) -> str | None:
        """The secret that signs at `now`: always exactly one (decision W9)."""
        if self.next_secret_at is not None and self.next_secret_at <= now:
            return self.next_secret
        return self.secret
