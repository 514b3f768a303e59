"""Collaboration of agents on a ticket: watches, snoozes, mentions, links."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import F, Q

from tickets.models.agents import Agent
from tickets.models.conversation import Comment
from tickets.models.tickets import Ticket

# A ticket wakes this long before each of its deadlines.
WAKE_BEFORE = {"due_at": timedelta(hours=2), "filing_due_at": timedelta(days=1)}


class Watch(models.Model):
    """Subscription of an agent to answers and decisions on a ticket."""

    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, related_name="watches", db_index=False
    )
    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="watches")
    created_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [
            # Also serves as the index for an agent's list.
            models.UniqueConstraint(fields=["agent", "ticket"], name="one_watch_per_agent"),
        ]

    def __str__(self) -> str:
        return f"agent {self.agent_id} watches ticket {self.ticket_id}"


class SnoozeQuerySet(models.QuerySet["Snooze"]):
    def asleep(self, now: datetime) -> "SnoozeQuerySet":
        """Filter snoozes in force: not over, by the ticket's present agent, no near deadline."""
        near = Q()
        for column, before in WAKE_BEFORE.items():
            at = f"ticket__{column}"
            near |= Q(**{f"{at}__gt": now, f"{at}__lte": now + before})
        return self.filter(until__gt=now, agent=F("ticket__agent")).exclude(near)


class Snooze(models.Model):
    """Snooze of a ticket by its agent; actions of the ticket's company remove it."""

    ticket = models.OneToOneField(
        Ticket, on_delete=models.CASCADE, primary_key=True, related_name="snooze"
    )
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+", db_index=False)
    until = models.DateTimeField()

    objects = SnoozeQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["agent", "until"], name="snooze_of_agent")]

    def __str__(self) -> str:
        return f"ticket {self.ticket_id} until {self.until}"


class Mention(models.Model):
    """Agent mentioned with an @ in a note, resolved when the note was written."""

    comment = models.ForeignKey(
        Comment, on_delete=models.CASCADE, related_name="mentions", db_index=False
    )
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="mentions")
    # Name as written in the note, without the @.
    written = models.CharField(max_length=150)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["comment", "written"], name="one_mention_per_name"),
        ]

    def __str__(self) -> str:
        return f"@{self.written}"


class RelatedTickets(models.Model):
    """Link by an agent between two tickets of one company. The first is the older one."""

    first = models.ForeignKey(
        Ticket, on_delete=models.CASCADE, related_name="related_later", db_index=False
    )
    second = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="related_earlier")

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="tickets_related_once"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="related_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} and {self.second_id}"


class CallerTicket(models.Model):
    """Form in which a ticket was opened for a caller or by its company, to ignore repeats."""

    key = models.UUIDField(unique=True)
    # Null only within the transaction that opens the ticket.
    ticket = models.OneToOneField(
        Ticket, on_delete=models.CASCADE, null=True, related_name="caller_form"
    )

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.key)
