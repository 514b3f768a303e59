from django.db import models

from companies.models import Company
from tickets.history_codes import ROWS
from tickets.models.tickets import Ticket
from tickets.statuses import By


class Comment(models.Model):
    """A message on a ticket, or a note that only agents see."""

    BY = [(By.COMPANY.value, "company"), (By.AGENT.value, "agent")]

    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="conversation", db_index=False
    )
    # Its ticket's, for the index on a company's words. A trigger writes it.
    company_id = models.BigIntegerField(null=True, editable=False)
    by = models.CharField(max_length=10, choices=BY)
    # Who exactly, for agents' eyes, as in the history.
    actor = models.CharField(max_length=150, blank=True)
    public = models.BooleanField(default=True)
    text = models.TextField()
    # The ticket's status when it was written, after the move it came with.
    status = models.PositiveSmallIntegerField(choices=Ticket.STATUSES)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["ticket", "id"], name="comment_of_ticket")]

    def __str__(self) -> str:
        return f"comment {self.pk}"


class TextOfDay(models.Model):
    """The amount of text that a company wrote on its last day of writing (UTC)."""

    company = models.OneToOneField(
        Company, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    day = models.DateField()
    bytes = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.bytes} bytes on {self.day}"


class HistoryQuerySet(models.QuerySet["HistoryEntry"]):
    def moves(self) -> "HistoryQuerySet":
        """From one status to another, in their order; without the opening."""
        return self.filter(public=True, was__isnull=False).order_by("pk")


class HistoryEntry(models.Model):
    """What happened to a ticket. Append-only: a trigger refuses all else (decision T17)."""

    ticket = models.ForeignKey(
        Ticket, on_delete=models.PROTECT, related_name="history", db_index=False
    )
    by = models.CharField(max_length=10, choices=[(who.value, who.value) for who in By])
    # Who exactly, for agents' eyes: a token's prefix or a username.
    actor = models.CharField(max_length=150, blank=True)
    was = models.PositiveSmallIntegerField(choices=Ticket.STATUSES, null=True)
    now = models.PositiveSmallIntegerField(choices=Ticket.STATUSES)
    kind = models.CharField(
        max_length=30, choices=[(code, code.replace("_", " ")) for code in ROWS]
    )
    # What a person wrote, word for word. What happened is in the kind and the data.
    reason = models.TextField(blank=True)
    # The facts that the kind asks for.
    data = models.JSONField(default=dict)
    # The company is shown moves; what is kept for agents stays with agents.
    public = models.BooleanField(default=True)
    # Of the request or command that caused it; null where none is known.
    request_id = models.CharField(max_length=128, null=True)  # noqa: DJ001 - an id is never empty
    created_at = models.DateTimeField()

    objects = HistoryQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "history"
        indexes = [
            models.Index(fields=["ticket", "id"], name="history_of_ticket"),
            # Who was assigned what in a time.
            models.Index(
                fields=["created_at"],
                condition=models.Q(data__has_key="agent"),
                name="history_assignments",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.was} to {self.now}"


class Rating(models.Model):
    """What a company thought of a decision, once."""

    ticket = models.OneToOneField(Ticket, on_delete=models.CASCADE, related_name="rating")
    rating = models.PositiveSmallIntegerField()
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.rating)
