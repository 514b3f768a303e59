"""Settings of automations by ticket type."""

from datetime import datetime

from django.contrib.auth.models import User
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.values.languages import check_languages
from tickets.models.types import TicketType

PREFIX = "automation:"
LONGEST_WAIT = 60
LONGEST_TEXT = 2_000


def limited(default: int, most: int = LONGEST_WAIT) -> "models.PositiveSmallIntegerField[int, int]":
    return models.PositiveSmallIntegerField(
        default=default, validators=[MinValueValidator(1), MaxValueValidator(most)]
    )


def own_texts() -> models.JSONField:
    """Field for leads' texts by language code; other languages get the default text."""
    return models.JSONField(default=dict, blank=True, validators=[check_languages])


class Automation(models.Model):
    """Automation of a kind for tickets of a type; off until a lead switches it on.

    An automation without a row is off and has the defaults below.
    """

    class Kind(models.TextChoices):
        REMIND = "remind", _("Reminders")
        CLOSE = "close", _("Closing silent tickets")
        ESCALATE = "escalate", _("Escalation")

    kind = models.CharField(max_length=10, choices=Kind)
    type = models.ForeignKey(TicketType, on_delete=models.CASCADE, related_name="automations")
    active = models.BooleanField(default=False)
    # Working days of silence before a reminder, or before the last one.
    wait_days = limited(3)
    # Number of reminders.
    times = limited(2, most=10)
    # Working days between the last reminder and the decision.
    last_days = limited(5)
    # Working hours before a ticket is due.
    hours_before = limited(2)
    # Reassign a ticket to somebody at work if its agent is not.
    reassigns = models.BooleanField(default=True)
    # Text that the company reads: a reminder, or why its ticket is declined.
    texts = own_texts()
    # Text of the last reminder before the ticket is declined.
    last_texts = own_texts()
    changed_at = models.DateTimeField(null=True)
    changed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    # Time of the last run, and its position; null to start from the beginning.
    ran_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    looked_id = models.BigIntegerField(null=True)

    class Meta:
        default_permissions = ("view", "change")
        verbose_name = _("automation")
        verbose_name_plural = _("automations")
        ordering = ["kind", "type"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "type"], name="one_automation_per_kind_and_type"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.type}"

    @property
    def actor(self) -> str:
        """Name in history and comments, which no user can have."""
        return f"{PREFIX}{self.kind}"

    @property
    def position(self) -> tuple[datetime, int] | None:
        """Time and id of the ticket after which the next run continues."""
        if self.looked_at is None or self.looked_id is None:
            return None
        return self.looked_at, self.looked_id


def automation_named(actor: str) -> str:
    """Return the label of an automation by its name in history; "" for other actors."""
    kind = actor.removeprefix(PREFIX)
    is_automation = actor.startswith(PREFIX) and kind in Automation.Kind.values
    return str(Automation.Kind(kind).label) if is_automation else ""
