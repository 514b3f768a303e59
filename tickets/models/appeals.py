from django.db import models
from django.db.models import Q
from django.utils.translation import gettext

from tickets.models.tickets import Ticket


class Appeal(models.Model):
    """Request of a company that a lead reviews a decision (decision N14)."""

    class State(models.TextChoices):
        PENDING = "pending"
        # The ticket was reopened.
        ACCEPTED = "accepted"
        REFUSED = "refused"

    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="appeals", db_index=False
    )
    # Time of the decision, which can be appealed once.
    declined_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    # The company's text, which is also a comment on the ticket.
    comment = models.TextField()
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    # Reason of a refusal, which the company reads.
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ticket", "declined_at"], name="one_appeal_per_decision"
            ),
        ]
        indexes = [
            models.Index(fields=["ticket"], condition=Q(state="pending"), name="appeal_pending"),
        ]

    def __str__(self) -> str:
        return gettext("appeal of ticket %(ticket)s") % {"ticket": self.ticket_id}

    @property
    def is_pending(self) -> bool:
        return self.state == self.State.PENDING

    @property
    def is_granted(self) -> bool:
        return self.state == self.State.ACCEPTED
