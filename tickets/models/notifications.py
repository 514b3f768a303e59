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
    """Notification of an agent about a ticket; an unread one is renewed by the next of its kind."""

    class Kind(models.TextChoices):
        # The ticket was assigned to them.
        ASSIGNED = "assigned"
        # The company wrote, sent a file or did something else on a ticket of theirs.
        ANSWERED = "answered"
        # A ticket of theirs is about to miss its due date.
        LATE = "late"
        # A note mentions them.
        MENTIONED = "mentioned"
        # On a ticket that they watch, the company answered or a decision was made.
        WATCHED = "watched"
        # A ticket that they snoozed is awake again.
        WOKEN = "woken"
        # For leads: a ticket is about to miss its due date.
        ESCALATED = "escalated"
        # Their pending answer was held, as its ticket had changed.
        HELD = "held"

    recipient = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="notifications", db_index=False
    )
    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=10, choices=Kind)
    by = models.CharField(max_length=10, choices=[(who.value, who.value) for who in By])
    # Name of the person who caused it, as in the history.
    actor = models.CharField(max_length=150, blank=True)
    # Time of its creation or last renewal.
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
            # Recent notifications for pages, and old ones for retention.
            models.Index(fields=["created_at"], name="notification_created_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: ticket {self.ticket_id}"
