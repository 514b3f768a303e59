"""What can be asked of agents and tickets, named as one would say it."""

from datetime import datetime, time
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from tickets.local_time import instant, time_there, weekday_there
from tickets.statuses import BLOCKING, OPEN, RUNNING

if TYPE_CHECKING:
    from tickets.models import Ticket


class AgentQuerySet(models.QuerySet["Agent"]):
    def at_work(self, at: datetime | None = None) -> "AgentQuerySet":
        """Those who may be given a ticket: available, on shift, not absent.

        Who has no shifts is always on shift. An end is not part of its shift or absence.
        """
        mine, zone = {"agent": OuterRef("pk")}, OuterRef("time_zone")
        shifts = self.model.shifts.rel.related_model.objects.filter(**mine)
        on_shift = shifts.filter(
            # Midnight ends the day that began.
            Q(ends__gt=time_there(zone, at)) | Q(ends=time(0)),
            weekday=weekday_there(zone, at),
            starts__lte=time_there(zone, at),
        )
        absences = self.model.absences.rel.related_model.objects.filter(
            **mine, starts_at__lte=instant(at), ends_at__gt=instant(at)
        )
        return self.filter(
            ~Exists(shifts) | Exists(on_shift),
            ~Exists(absences),
            available=True,
            user__is_active=True,
        )

    def taking(self, type_id: int | Combinable, at: datetime | None = None) -> "AgentQuerySet":
        """Those at work who take tickets of this type (decision T18)."""
        chosen = self.model.skills.through.objects.filter(agent=OuterRef("pk"))
        return self.at_work(at).filter(~Exists(chosen) | Exists(chosen.filter(tickettype=type_id)))

    def with_loads(self) -> "AgentQuerySet":
        """Each with `load`: how many of their tickets have a clock that runs."""
        tickets = self.model.tickets.rel.related_model.objects.running()
        mine = tickets.filter(agent=OuterRef("pk")).order_by().values("agent")
        return self.annotate(load=Coalesce(Subquery(mine.annotate(n=Count("*")).values("n")), 0))

    def with_presence(self) -> "AgentQuerySet":
        """Each with `there`: whether they are at work."""
        return self.annotate(there=Exists(self.model.objects.at_work().filter(pk=OuterRef("pk"))))

    def holding(self) -> "AgentQuerySet":
        """Those with an open ticket."""
        tickets = self.model.tickets.rel.related_model.objects.open()
        return self.filter(Exists(tickets.filter(agent=OuterRef("pk"))))


class TicketQuerySet(models.QuerySet["Ticket"]):
    def open(self) -> "TicketQuerySet":
        return self.filter(status__in=OPEN)

    def running(self) -> "TicketQuerySet":
        return self.filter(status__in=RUNNING)

    def newest(self) -> "TicketQuerySet":
        """Newest first, in the order of the index on a company's tickets."""
        return self.order_by("-created_at", "-pk")

    def behind(self, ticket: "Ticket") -> "TicketQuerySet":
        """Those that come after it in a list with the newest first."""
        at = ticket.created_at
        return self.filter(created_at__lte=at).exclude(created_at=at, pk__gte=ticket.pk)

    def blocking(self, type_id: int, shipment_id: int) -> "TicketQuerySet":
        """What stands in the way of a second ticket (interface, Errors)."""
        return self.filter(type_id=type_id, shipment_id=shipment_id, status__in=BLOCKING)

    def urgent_first(self) -> "TicketQuerySet":
        """What is due first, then the oldest."""
        return self.order_by(F("due_at").asc(nulls_last=True), "pk")

    def waiting(self) -> "TicketQuerySet":
        """What the sweep has to find an agent for (decision T18)."""
        return self.running().filter(agent=None)

    def hold(self, ticket_id: int) -> "Ticket":
        """The ticket, its row locked until the transaction ends. Raises Ticket.DoesNotExist.

        Comments and history rows point at it: a stronger lock would make their inserts wait.
        """
        held = self.select_for_update(of=("self",), no_key=True)
        # Its clocks ask for the company's plan.
        return held.select_related("company").get(pk=ticket_id)


class HistoryQuerySet(models.QuerySet["HistoryEntry"]):
    def moves(self) -> "HistoryQuerySet":
        """From one status to another, in their order; without the opening."""
        return self.filter(public=True, was__isnull=False).order_by("pk")
