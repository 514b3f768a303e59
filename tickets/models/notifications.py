from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from tickets.models.tickets import Ticket
from tickets.statuses import By


class NotificationQuerySet(models.QuerySet["Notification"]):
    def unread(self) -> "NotificationQuerySet":
        return self.filter(read_at=None)

    def newest(self) -> "NotificationQuerySet":
        return self.order_by("-created_at", "-pk")


class Notification(models.Model):
    """What an agent is told of a ticket. While it is unread, another of its kind renews it."""

    class Kind(models.TextChoices):
        # The ticket is theirs now.
        ASSIGNED = "assigned"
        # The company wrote, sent a file or did something else on a ticket of theirs.
        ANSWERED = "answered"
        # A ticket of theirs is about to miss its due date.
        LATE = "late"
        # A note names them.
        MENTIONED = "mentioned"
        # The company answered on a ticket that they watch, or it was decided.
        WATCHED = "watched"
        # A ticket that they snoozed is awake again.
        WOKEN = "woken"
        # For leads: a ticket is about to miss its due date, and somebody has to look.
        ESCALATED = "escalated"
        # An answer of theirs was held, as something had happened on its ticket.
        HELD = "held"

    recipient = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="notifications", db_index=False
    )
    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=10, choices=Kind)
    by = models.CharField(max_length=10, choices=[(who.value, who.value) for who in By])
    # Who caused it, as in the history.
    actor = models.CharField(max_length=150, blank=True)
    # When it was last renewed.
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)

    objects = NotificationQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "ticket", "kind"],
                condition=Q(read_at=None),
                name="one_unread_notification",
            ),
        ]
        indexes = [
            # A recipient's list.
            models.Index(fields=["recipient", "-created_at"], name="notification_newest"),
            # What has come lately, and what is old.
            models.Index(fields=["created_at"], name="notification_created_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: ticket {self.ticket_id}"
