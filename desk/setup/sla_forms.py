"""Validation of calendars, SLA targets and filing rules; every error names its field."""

import logging
from datetime import timedelta
from itertools import pairwise
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from desk.common.generics import BaseInlineFormSet, ModelForm
from tickets.models import Calendar, FilingRule, SLATarget, WorkingHours
from tickets.sla import calendars
from tickets.sla.calendars import MIDNIGHT
from tickets.sla.policy import read_calendar

logger = logging.getLogger(__name__)

MOST_DAYS = 3650


class CalendarForm(ModelForm[Calendar]):
    class Meta:
        model = Calendar
        fields = ("name", "time_zone")

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"]
        try:
            calendars.zone(name)
        except calendars.BadCalendar as error:
            text = gettext("There is no time zone %(name)s. Write it like Europe/Madrid.")
            raise ValidationError(text % {"name": name}) from error
        return name


class HoursOfAWeek(BaseInlineFormSet[WorkingHours, Calendar]):
    """Business hours: at least one interval, each ending after its start, without overlaps."""

    def clean(self) -> None:
        super().clean()
        filled = [form for form in self.forms if self.is_filled(form)]
        if not filled and not any(form.errors for form in self.forms):
            text = gettext("Add working hours: without them nothing would ever be due.")
            raise ValidationError(text)
        for form in filled:
            starts, ends = form.cleaned_data["starts"], form.cleaned_data["ends"]
            if MIDNIGHT != ends <= starts:
                text = gettext(
                    "The end must be after the start. Enter a night shift as two intervals."
                )
                form.add_error("ends", text)
        self.refuse_overlaps([form for form in filled if form.is_valid()])

    def is_filled(self, form: "forms.ModelForm[WorkingHours]") -> bool:
        wanted = {"weekday", "starts", "ends"}
        return wanted <= {*form.cleaned_data} and not form.cleaned_data.get("DELETE")

    def refuse_overlaps(self, filled: "list[forms.ModelForm[WorkingHours]]") -> None:
        filled.sort(key=lambda form: (form.cleaned_data["weekday"], form.cleaned_data["starts"]))
        for one, following in pairwise(filled):
            before, after = one.cleaned_data, following.cleaned_data
            same_day = before["weekday"] == after["weekday"]
            if same_day and (before["ends"] == MIDNIGHT or after["starts"] < before["ends"]):
                text = gettext("This interval overlaps another one on the same day.")
                following.add_error("starts", text)


class TargetForm(ModelForm[SLATarget]):
    class Meta:
        model = SLATarget
        fields = ("plan", "type", "calendar", "first_response_minutes", "resolution_minutes")
        help_texts = {
            "type": gettext_lazy("Leave empty for any type."),
            "first_response_minutes": gettext_lazy(
                "In minutes of working time; 480 is eight hours."
            ),
            "resolution_minutes": gettext_lazy(
                "In minutes of working time, without the time spent waiting for the company."
            ),
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if chosen := cleaned.get("calendar"):
            try:
                calendar = read_calendar(chosen)
            except calendars.BadCalendar as error:
                logger.warning("the calendar %s is invalid: %s", chosen, error)
                text = gettext("This calendar is invalid. Check its time zone and its hours.")
                self.add_error("calendar", text)
            else:
                for field in ("first_response_minutes", "resolution_minutes"):
                    self.refuse_endless(field, calendar)
        return cleaned

    def refuse_endless(self, field: str, calendar: calendars.BusinessHours) -> None:
        minutes = self.cleaned_data.get(field)
        if minutes is None:
            return
        if minutes == 0:
            self.add_error(field, gettext("Enter at least one minute."))
        try:
            calendars.add_business_time(calendar, timezone.now(), timedelta(minutes=minutes))
        except calendars.TooFar:
            self.add_error(field, gettext("In this calendar that takes more than fifty years."))


class FilingRuleForm(ModelForm[FilingRule]):
    class Meta:
        model = FilingRule
        fields = ("carrier_name", "type", "days", "counts_from_delivery")

    def clean_days(self) -> int:
        days: int = self.cleaned_data["days"]
        if not 1 <= days <= MOST_DAYS:
            raise ValidationError(gettext("Give 1 to %(most)d days.") % {"most": MOST_DAYS})
        return days

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        name, about = cleaned.get("carrier_name", ""), cleaned.get("type")
        others = FilingRule.objects.exclude(pk=self.instance.pk).exclude(carrier_name=name)
        if about and others.filter(carrier_name__iexact=name, type=about).exists():
            text = gettext("This carrier already has a rule for this type.")
            self.add_error("carrier_name", text)
        return cleaned
