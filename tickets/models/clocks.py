"""Service levels: calendars, SLA targets and filing rules."""

from django.db import models
from django.db.models import Q
from django.utils.dates import WEEKDAYS as DAYS
from django.utils.formats import date_format
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from core.data.reading_order import ReadingOrder
from tickets.models.types import TicketType

# Django's names, which it also translates.
WEEKDAYS = list(DAYS.items())


class WeekdayHours(models.Model):
    """Interval of a weekday."""

    weekday = models.PositiveSmallIntegerField(_("weekday"), choices=WEEKDAYS)
    starts = models.TimeField(_("starts"))
    ends = models.TimeField(_("ends"), help_text=_("00:00 means the end of the day."))

    class Meta:
        abstract = True
        ordering = ["weekday", "starts"]

    def __str__(self) -> str:
        hours = {
            "day": self.get_weekday_display(),
            "start": f"{self.starts:%H:%M}",
            "end": f"{self.ends:%H:%M}",
        }
        return gettext("%(day)s %(start)s to %(end)s") % hours


class Calendar(models.Model):
    """Business hours in a time zone."""

    name = models.CharField(_("name"), max_length=50, unique=True)
    time_zone = models.CharField(
        _("time zone"), max_length=50, default="UTC", help_text=_("For example Europe/Madrid.")
    )

    class Meta:
        verbose_name = _("calendar")
        verbose_name_plural = _("calendars")
        ordering = [ReadingOrder("name")]

    def __str__(self) -> str:
        return pgettext("calendar", self.name)


class WorkingHours(WeekdayHours):
    """Interval of a weekday; a lunch break is the gap between two."""

    calendar = models.ForeignKey(
        Calendar, on_delete=models.CASCADE, related_name="hours", verbose_name=_("calendar")
    )

    class Meta(WeekdayHours.Meta):
        verbose_name = _("working hours")
        verbose_name_plural = _("working hours")


class Holiday(models.Model):
    """Day of a calendar without business hours."""

    calendar = models.ForeignKey(
        Calendar, on_delete=models.CASCADE, related_name="holidays", verbose_name=_("calendar")
    )
    day = models.DateField(_("day"))
    name = models.CharField(_("name"), max_length=100, blank=True)

    class Meta:
        verbose_name = _("holiday")
        verbose_name_plural = _("holidays")
        ordering = ["day"]
        constraints = [
            models.UniqueConstraint(fields=["calendar", "day"], name="one_holiday_per_day"),
        ]

    def __str__(self) -> str:
        return f"{date_format(self.day)} {self.name}".strip()


class SLATarget(models.Model):
    """Minutes of business time until the first response and the decision.

    The most specific target applies: plan and type, then plan, then type, then neither.
    """

    plan = models.CharField(
        _("plan"), max_length=50, blank=True, help_text=_("A company's plan; leave empty for any.")
    )
    type = models.ForeignKey(
        TicketType,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("type"),
    )
    calendar = models.ForeignKey(
        Calendar, on_delete=models.PROTECT, related_name="targets", verbose_name=_("calendar")
    )
    first_response_minutes = models.PositiveIntegerField(_("first response minutes"))
    resolution_minutes = models.PositiveIntegerField(_("resolution minutes"))

    class Meta:
        verbose_name = _("SLA target")
        verbose_name_plural = _("SLA targets")
        db_table = "tickets_target"
        ordering = ["plan", "type"]
        constraints = [
            models.UniqueConstraint(
                fields=["plan", "type"], nulls_distinct=False, name="one_target_per_plan_and_type"
            ),
        ]

    def __str__(self) -> str:
        plan, kind = self.plan or gettext("any plan"), self.type or gettext("any type")
        return f"{plan}, {kind}"


class FilingRule(models.Model):
    """Number of days in which a carrier accepts claims of a type."""

    carrier_name = models.CharField(
        _("carrier name"), max_length=100, blank=True, help_text=_("Leave empty for any carrier.")
    )
    type = models.ForeignKey(
        TicketType, on_delete=models.CASCADE, related_name="+", verbose_name=_("type")
    )
    days = models.PositiveIntegerField(
        _("days"), help_text=_("Days after the shipment was handed over, or delivered.")
    )
    counts_from_delivery = models.BooleanField(_("counts from delivery"), default=False)

    class Meta:
        verbose_name = _("filing rule")
        verbose_name_plural = _("filing rules")
        ordering = [ReadingOrder("carrier_name"), "type"]
        constraints = [
            models.UniqueConstraint(
                fields=["carrier_name", "type"], name="one_filing_rule_per_carrier_and_type"
            ),
            models.CheckConstraint(condition=Q(days__gt=0), name="filing_takes_a_day_at_least"),
        ]

    def __str__(self) -> str:
        names = {
            "carrier": self.carrier_name or gettext("any carrier"),
            "type": self.type,
            "days": self.days,
        }
        return gettext("%(carrier)s, %(type)s: %(days)s days") % names
