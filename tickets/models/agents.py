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
    """Return a subquery for the number of an agent's tickets whose clock runs.

    It sums the stored changes, so the cost does not depend on the number of open tickets.
    """
    changes = LoadChange.objects.filter(agent=OuterRef("pk"), status__in=RUNNING).values("agent")
    return Coalesce(Subquery(changes.annotate(n=Sum("change")).values("n")), 0)


def tickets_of_inactive_agents() -> TicketQuerySet:
    """Return the tickets of deactivated agents that need an agent (decision N27)."""
    # A separate query: with a literal list of ids PostgreSQL uses the index of agents' tickets.
    inactive = Agent.objects.filter(user__is_active=False).values_list("pk", flat=True)
    return Ticket.objects.needing_agent().filter(agent__in=list(inactive))


class AgentQuerySet(models.QuerySet["Agent"]):
    def by_name(self) -> "AgentQuerySet":
        return self.order_by(ReadingOrder("user__username"))

    def at_work(self, at: datetime | None = None) -> "AgentQuerySet":
        """Filter agents who can get tickets: available, on shift, not absent.

        Agents without shifts are always on shift. Intervals do not include their ends.
        """
        same_agent = {"agent": OuterRef("pk")}
        zone = OuterRef("time_zone")
        shifts = Shift.objects.filter(**same_agent)
        on_shift = shifts.filter(
            # A shift that ends at midnight ends with its weekday.
            Q(ends__gt=time_there(zone, at)) | Q(ends=time(0)),
            weekday=weekday_there(zone, at),
            starts__lte=time_there(zone, at),
        )
        absences = Absence.objects.filter(
            **same_agent, starts_at__lte=instant(at), ends_at__gt=instant(at)
        )
        return self.filter(
            ~Exists(shifts) | Exists(on_shift),
            ~Exists(absences),
            available=True,
            user__is_active=True,
        )

    def taking(self, type_id: int | Combinable, at: datetime | None = None) -> "AgentQuerySet":
        """Filter agents at work who take tickets of this type (decision T18)."""
        chosen = Agent.skills.through.objects.filter(agent=OuterRef("pk"))
        return self.at_work(at).filter(~Exists(chosen) | Exists(chosen.filter(tickettype=type_id)))

    def with_loads(self) -> "AgentQuerySet":
        """Annotate agents with `load`, the number of their tickets whose clock runs."""
        return self.annotate(load=ticket_load())

    def with_presence(self) -> "AgentQuerySet":
        """Annotate agents with `there`, whether they are at work."""
        return self.annotate(there=Exists(Agent.objects.at_work().filter(pk=OuterRef("pk"))))

    def holding(self) -> "AgentQuerySet":
        """Filter agents with an open ticket."""
        tickets = Ticket.objects.open()
        return self.filter(Exists(tickets.filter(agent=OuterRef("pk"))))


class Agent(models.Model):
    """User who works on tickets, with what assignment needs to know (decision T18)."""

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
    """Change in the number of an agent's open tickets in a status.

    The sums are the agents' loads. Triggers on tickets insert these rows, which are never updated,
    so that writers do not wait for each other (decision page tickets-loads-are-kept-as-sums).
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
    """Hours of a weekday in which an agent works; agents without shifts always do."""

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
    """Period in which an agent gets no tickets, even on shift."""

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
