from datetime import datetime, time

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.data.reading_order import ReadingOrder
from tickets.local_time import check_zone, instant, time_there, weekday_there
from tickets.models.clocks import WeekdayHours
from tickets.models.tickets import Ticket, TicketQuerySet
from tickets.models.types import TicketType
from tickets.statuses import RUNNING


def ticket_load() -> Coalesce:
    """In a queryset of agents: how many of each one's tickets have a clock that runs.

    As it is kept: what it costs does not depend on how many tickets are open.
    """
    mine = LoadChange.objects.filter(agent=OuterRef("pk"), status__in=RUNNING).values("agent")
    return Coalesce(Subquery(mine.annotate(n=Sum("change")).values("n")), 0)


def left_behind() -> TicketQuerySet:
    """Tickets that need an agent, with agents who were switched off (decision N27)."""
    # Asked for first: with the ids of a few agents the index of their tickets is used.
    gone = Agent.objects.filter(user__is_active=False).values_list("pk", flat=True)
    return Ticket.objects.needing_agent().filter(agent__in=list(gone))


class AgentQuerySet(models.QuerySet["Agent"]):
    def by_name(self) -> "AgentQuerySet":
        return self.order_by(ReadingOrder("user__username"))

    def at_work(self, at: datetime | None = None) -> "AgentQuerySet":
        """Those who may be given a ticket: available, on shift, not absent.

        Who has no shifts is always on shift. An end is not part of its shift or absence.
        """
        mine, zone = {"agent": OuterRef("pk")}, OuterRef("time_zone")
        shifts = Shift.objects.filter(**mine)
        on_shift = shifts.filter(
            # Midnight ends the day that began.
            Q(ends__gt=time_there(zone, at)) | Q(ends=time(0)),
            weekday=weekday_there(zone, at),
            starts__lte=time_there(zone, at),
        )
        absences = Absence.objects.filter(
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
        chosen = Agent.skills.through.objects.filter(agent=OuterRef("pk"))
        return self.at_work(at).filter(~Exists(chosen) | Exists(chosen.filter(tickettype=type_id)))

    def with_loads(self) -> "AgentQuerySet":
        """Each with `load`: how many of their tickets have a clock that runs."""
        return self.annotate(load=ticket_load())

    def with_presence(self) -> "AgentQuerySet":
        """Each with `there`: whether they are at work."""
        return self.annotate(there=Exists(Agent.objects.at_work().filter(pk=OuterRef("pk"))))

    def holding(self) -> "AgentQuerySet":
        """Those with an open ticket."""
        tickets = Ticket.objects.open()
        return self.filter(Exists(tickets.filter(agent=OuterRef("pk"))))


class Agent(models.Model):
    """A person who works tickets, as assignment sees them (decision T18)."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="agent",
        verbose_name=_("user"),
    )
    capacity = models.PositiveIntegerField(
        _("capacity"), default=50, help_text=_("Active tickets at a time.")
    )
    available = models.BooleanField(_("available"), default=True)
    skills = models.ManyToManyField(
        TicketType,
        blank=True,
        help_text=_("Ticket types the agent takes; none means all."),
        verbose_name=_("skills"),
    )
    time_zone = models.CharField(
        _("time zone"),
        max_length=50,
        default="UTC",
        validators=[check_zone],
        help_text=_("Time zone of the shifts, for example Europe/Madrid."),
    )
    last_assigned_at = models.DateTimeField(_("last assigned at"), null=True, editable=False)

    objects = AgentQuerySet.as_manager()

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")

    def __str__(self) -> str:
        return self.user.get_username()


class LoadChange(models.Model):
    """So many more open tickets of a status that an agent has, or fewer.

    The sums are the agents' loads. Triggers on tickets write these rows, and nobody changes one:
    so no writer waits for another (decision page tickets-loads-are-kept-as-sums).
    """

    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    status = models.PositiveSmallIntegerField()
    change = models.IntegerField()

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["agent"], include=["status", "change"], name="load_of_agent")
        ]

    def __str__(self) -> str:
        return f"{self.change:+} of agent {self.agent_id}"


class Shift(WeekdayHours):
    """Hours of a weekday in which an agent is at work. Who has none is always at work."""

    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, related_name="shifts", verbose_name=_("agent")
    )

    class Meta(WeekdayHours.Meta):
        verbose_name = _("shift")
        verbose_name_plural = _("shifts")
        constraints = [
            models.CheckConstraint(
                condition=Q(ends__gt=models.F("starts")) | Q(ends=time(0)),
                name="shift_ends_later",
            ),
        ]

    def clean(self) -> None:
        if self.starts and self.ends and self.ends != time(0) and self.ends <= self.starts:
            text = gettext("A shift must end on the same day. Enter a night shift as two.")
            raise ValidationError({"ends": text})


class Absence(models.Model):
    """A time in which an agent gets nothing, shift or no shift."""

    agent = models.ForeignKey(
        Agent, on_delete=models.CASCADE, related_name="absences", verbose_name=_("agent")
    )
    starts_at = models.DateTimeField(_("starts at"))
    ends_at = models.DateTimeField(_("ends at"))
    reason = models.CharField(_("reason"), max_length=100, blank=True)

    class Meta:
        verbose_name = _("absence")
        verbose_name_plural = _("absences")
        ordering = ["starts_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at__gt=models.F("starts_at")), name="absence_ends_later"
            ),
        ]

    def __str__(self) -> str:
        start, end = (
            date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")
            for at in (self.starts_at, self.ends_at)
        )
        return gettext("%(start)s to %(end)s") % {"start": start, "end": end}

    def clean(self) -> None:
        if self.starts_at and self.ends_at and self.ends_at <= self.starts_at:
            raise ValidationError({"ends_at": gettext("The end must be after the start.")})
