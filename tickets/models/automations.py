"""What leads have done by itself, per ticket type, and how long each waits."""

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


def few(default: int, most: int = LONGEST_WAIT) -> "models.PositiveSmallIntegerField[int, int]":
    return models.PositiveSmallIntegerField(
        default=default, validators=[MinValueValidator(1), MaxValueValidator(most)]
    )


def own_texts() -> models.JSONField:
    """Texts of leads by the code of their language; the service has its own for the others."""
    return models.JSONField(default=dict, blank=True, validators=[check_languages])


class Automation(models.Model):
    """One of three, for tickets of a type. Off until a lead switches it on.

    Without a row it is off, and has the waits below.
    """

    class Kind(models.TextChoices):
        REMIND = "remind", _("Reminders")
        CLOSE = "close", _("Closing silent tickets")
        ESCALATE = "escalate", _("Escalation")

    kind = models.CharField(max_length=10, choices=Kind)
    type = models.ForeignKey(TicketType, on_delete=models.CASCADE, related_name="automations")
    active = models.BooleanField(default=False)
    # Working days of silence before a reminder, or before the last one.
    wait_days = few(3)
    # How many reminders there are.
    times = few(2, most=10)
    # Working days between the last reminder and the decision.
    last_days = few(5)
    # Working hours before a ticket is due.
    hours_before = few(2)
    # Whether a ticket whose agent is not at work goes to somebody who is.
    reassigns = models.BooleanField(default=True)
    # What the company reads: a reminder, or why its ticket is declined.
    texts = own_texts()
    # The last reminder before that.
    last_texts = own_texts()
    changed_at = models.DateTimeField(null=True)
    changed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    # When it last had its turn, and the ticket after which it goes on; null: from the beginning.
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
        """Its name in history and beside what it writes. No user can be called so."""
        return f"{PREFIX}{self.kind}"

    @property
    def position(self) -> tuple[datetime, int] | None:
        """The time and id of the ticket after which it goes on."""
        if self.looked_at is None or self.looked_id is None:
            return None
        return self.looked_at, self.looked_id


def automation_named(actor: str) -> str:
    """What people call the automation of this name in history; empty for everybody else."""
    kind = actor.removeprefix(PREFIX)
    known = actor.startswith(PREFIX) and kind in Automation.Kind.values
    return str(Automation.Kind(kind).label) if known else ""
