"""What only the desk needs: prepared answers, who is looking at what, and storms."""

from django.conf import settings
from django.db import models
from django.db.models import Q, Value

from tickets.models import Ticket, TicketType


class Macro(models.Model):
    """A prepared answer: what it says, where it moves the ticket, which documents it asks for."""

    name = models.CharField(max_length=80, unique=True)
    text = models.TextField(help_text="{ticket}, {company}, {tracking} and {agent} are replaced.")
    public = models.BooleanField(
        default=True, help_text="Sent to the company as a reply; otherwise an internal note."
    )
    move_to = models.PositiveSmallIntegerField(choices=Ticket.STATUSES, null=True, blank=True)
    requested = models.TextField(blank=True, help_text="Documents to request, one per line.")
    types = models.ManyToManyField(
        TicketType, blank=True, help_text="Ticket types that offer this macro; none means all."
    )
    active = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Visit(models.Model):
    """One person at one ticket: who is there now, and what they have already seen."""

    ticket = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="visits", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # All that happened up to here is no news to them.
    seen_at = models.DateTimeField()
    # The page's last sign of life, and whether it had a text begun.
    alive_at = models.DateTimeField()
    writing = models.BooleanField(default=False)
    # The form that was taken last: sent once more, by a second click, it is not taken again.
    last_form = models.UUIDField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ticket", "user"], name="one_visit_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.ticket}"


class Storm(models.Model):
    """More tickets about a carrier than an hour usually brings: one incident, many tickets."""

    class State(models.TextChoices):
        PROPOSED = "proposed"
        OPEN = "open"
        DISMISSED = "dismissed"
        CLOSED = "closed"

    carrier_name = models.CharField(max_length=100)
    # When the hour that was counted began.
    hour = models.DateTimeField()
    found = models.PositiveIntegerField(help_text="Tickets opened in that hour.")
    usual = models.FloatField(help_text="Tickets usually opened in that hour.")
    state = models.CharField(max_length=10, choices=State, default=State.PROPOSED)
    title = models.CharField(max_length=200, blank=True)
    decided_by = models.CharField(max_length=150, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, editable=False)
    tickets = models.ManyToManyField(Ticket, related_name="storms", blank=True)

    class Meta:
        permissions = [
            ("answer_storm", "Can open, answer and close a storm"),
            ("view_figures", "Can see the figures of all agents"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["carrier_name"],
                condition=Q(state__in=["proposed", "open"]),
                name="one_storm_per_carrier_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return self.title or f"{self.carrier_name}, {self.hour:%Y-%m-%d %H}h"


class StormReply(models.Model):
    """One text to all tickets of a storm, and how far it has come."""

    storm = models.ForeignKey(Storm, on_delete=models.CASCADE, related_name="replies")
    # Of the form: sent twice, it is taken once.
    key = models.UUIDField(unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    # Links between the storm and its tickets: the last it concerns, and the last that is done.
    upto = models.BigIntegerField()
    at = models.BigIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    closed = models.PositiveIntegerField(
        default=0, help_text="Decided before the reply reached them."
    )
    # Why, by the id of the ticket that could not be answered.
    failed = models.JSONField(default=dict, db_default=Value({}, models.JSONField()))
    stopped = models.CharField(max_length=200, blank=True, help_text="Why the reply stopped early.")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "storm replies"
        indexes = [
            models.Index(
                fields=["id"], condition=Q(finished_at=None), name="storm_reply_unfinished"
            ),
        ]

    def __str__(self) -> str:
        closed = f", {self.closed} closed meanwhile" if self.closed else ""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{self.answered} answered{closed}{failed}"
