"""How agents work on a ticket together."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import F, Q

from tickets.models.agents import Agent
from tickets.models.conversation import Comment
from tickets.models.tickets import Ticket

# Nobody sleeps through these: so long before them a ticket is awake.
WAKE_BEFORE = {"due_at": timedelta(hours=2), "filing_due_at": timedelta(days=1)}


class Watch(models.Model):
    """An agent who is notified when a ticket's company answers, and when it is decided."""

    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, related_name="watches", db_index=False
    )
    ticket = models.ForeignKey(Ticket, on_delete=models.CASCADE, related_name="watches")
    created_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [
            # Also the index of an agent's list.
            models.UniqueConstraint(fields=["agent", "ticket"], name="one_watch_per_agent"),
        ]

    def __str__(self) -> str:
        return f"agent {self.agent_id} watches ticket {self.ticket_id}"


class SnoozeQuerySet(models.QuerySet["Snooze"]):
    def asleep(self, now: datetime) -> "SnoozeQuerySet":
        """Return snoozes in force: not over, of who has the ticket, no deadline near."""
        near = Q()
        for column, before in WAKE_BEFORE.items():
            at = f"ticket__{column}"
            near |= Q(**{f"{at}__gt": now, f"{at}__lte": now + before})
        return self.filter(until__gt=now, agent=F("ticket__agent")).exclude(near)


class Snooze(models.Model):
    """A ticket that its agent has put aside. What its company does to the ticket removes it."""

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
    """An agent whom a note names with an @, as the names were when it was written."""

    comment = models.ForeignKey(
        Comment, on_delete=models.CASCADE, related_name="mentions", db_index=False
    )
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="mentions")
    # As it stands in the note, without the @.
    written = models.CharField(max_length=150)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["comment", "written"], name="one_mention_per_name"),
        ]

    def __str__(self) -> str:
        return f"@{self.written}"


class RelatedTickets(models.Model):
    """Two tickets of one company that an agent has linked by hand. The first is the older one."""

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
    """A form in which an agent opened a ticket for a caller, so that it is taken once."""

    key = models.UUIDField(unique=True)
    # Null while the ticket is being opened: no other transaction sees that.
    ticket = models.OneToOneField(
        Ticket, on_delete=models.CASCADE, null=True, related_name="caller_form"
    )

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.key)
