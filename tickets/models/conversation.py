from django.db import models

from companies.models import Company
from tickets.history_codes import ROWS
from tickets.models.tickets import Ticket
from tickets.statuses import By


class Comment(models.Model):
    """Message on a ticket, or a note for agents."""

    BY = [(By.COMPANY.value, "company"), (By.AGENT.value, "agent")]

    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="conversation", db_index=False
    )
    # The ticket's company, written by a trigger for the index on a company's words.
    company_id = models.BigIntegerField(null=True, editable=False)
    by = models.CharField(max_length=10, choices=BY)
    # Name of the author, shown to agents only, as in the history.
    actor = models.CharField(max_length=150, blank=True)
    public = models.BooleanField(default=True)
    text = models.TextField()
    # The ticket's status at that time, after the move that the comment came with.
    status = models.PositiveSmallIntegerField(choices=Ticket.STATUSES)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["ticket", "id"], name="comment_of_ticket")]

    def __str__(self) -> str:
        return f"comment {self.pk}"


class TextOfDay(models.Model):
    """Bytes of text that a company wrote on the last day (UTC) on which it wrote any."""

    company = models.OneToOneField(
        Company, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    day = models.DateField()
    bytes = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.bytes} bytes on {self.day}"


class HistoryQuerySet(models.QuerySet["HistoryEntry"]):
    def moves(self) -> "HistoryQuerySet":
        """Filter moves between statuses, without the opening, in order."""
        return self.filter(public=True, was__isnull=False).order_by("pk")


class HistoryEntry(models.Model):
    """Entry in a ticket's history. Append-only, enforced by a trigger (decision T17)."""

    ticket = models.ForeignKey(
        Ticket, on_delete=models.PROTECT, related_name="history", db_index=False
    )
    by = models.CharField(max_length=10, choices=[(who.value, who.value) for who in By])
    # A token's prefix or a username, shown to agents only.
    actor = models.CharField(max_length=150, blank=True)
    was = models.PositiveSmallIntegerField(choices=Ticket.STATUSES, null=True)
    now = models.PositiveSmallIntegerField(choices=Ticket.STATUSES)
    kind = models.CharField(
        max_length=30, choices=[(code, code.replace("_", " ")) for code in ROWS]
    )
    # Text that a person wrote, verbatim. The change itself is in the kind and the data.
    reason = models.TextField(blank=True)
    # Facts named by the kind's row.
    data = models.JSONField(default=dict)
    # Companies are shown moves; other entries are for agents.
    public = models.BooleanField(default=True)
    # Id of the request or command that caused it; null if there is none.
    request_id = models.CharField(max_length=128, null=True)  # noqa: DJ001 - an id is never empty
    created_at = models.DateTimeField()

    objects = HistoryQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "history"
        indexes = [
            models.Index(fields=["ticket", "id"], name="history_of_ticket"),
            # Assignments within a period.
            models.Index(
                fields=["created_at"],
                condition=models.Q(data__has_key="agent"),
                name="history_assignments",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.was} to {self.now}"


class Rating(models.Model):
    """Rating of a decision by its company; there is one per ticket."""

    ticket = models.OneToOneField(Ticket, on_delete=models.CASCADE, related_name="rating")
    rating = models.PositiveSmallIntegerField()
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.rating)
