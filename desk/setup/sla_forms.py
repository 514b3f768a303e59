"""What may be put into calendars, targets and filing rules; each refusal names its field."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from desk.common.generics import BaseInlineFormSet, ModelForm
from tickets.models import Calendar, FilingRule, SLATarget, WorkingHours
from tickets.sla import calendars
from tickets.sla.calendars import MIDNIGHT
from tickets.sla.policy import read_calendar

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
            raise ValidationError(f"{error} Write it like Europe/Madrid.") from error
        return name


class HoursOfAWeek(BaseInlineFormSet[WorkingHours, Calendar]):
    """At least one interval, each ending after it starts, none meeting another of its day."""

    def clean(self) -> None:
        super().clean()
        filled = [form for form in self.forms if self.is_filled(form)]
        if not filled and not any(form.errors for form in self.forms):
            raise ValidationError("Add working hours: without them nothing would ever be due.")
        for form in filled:
            starts, ends = form.cleaned_data["starts"], form.cleaned_data["ends"]
            if MIDNIGHT != ends <= starts:
                form.add_error(
                    "ends", "The end must be after the start. Enter a night shift as two intervals."
                )
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
                following.add_error("starts", "This interval overlaps another one on the same day.")


class TargetForm(ModelForm[SLATarget]):
    class Meta:
        model = SLATarget
        fields = ("plan", "type", "calendar", "first_response_minutes", "resolution_minutes")
        help_texts = {
            "type": "Leave empty for any type.",
            "first_response_minutes": "In minutes of working time; 480 is eight hours.",
            "resolution_minutes": (
                "In minutes of working time, without the time spent waiting for the company."
            ),
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if chosen := cleaned.get("calendar"):
            try:
                calendar = read_calendar(chosen)
            except calendars.BadCalendar as error:
                self.add_error("calendar", str(error))
            else:
                for field in ("first_response_minutes", "resolution_minutes"):
                    self.refuse_endless(field, calendar)
        return cleaned

    def refuse_endless(self, field: str, calendar: calendars.BusinessHours) -> None:
        minutes = self.cleaned_data.get(field)
        if minutes is None:
            return
        if minutes == 0:
            self.add_error(field, "Enter at least one minute.")
        try:
            calendars.add_business_time(calendar, timezone.now(), timedelta(minutes=minutes))
        except calendars.TooFar:
            self.add_error(field, "In this calendar that takes more than fifty years.")


class FilingRuleForm(ModelForm[FilingRule]):
    class Meta:
        model = FilingRule
        fields = ("carrier_name", "type", "days", "counts_from_delivery")

    def clean_days(self) -> int:
        days: int = self.cleaned_data["days"]
        if not 1 <= days <= MOST_DAYS:
            raise ValidationError(f"Give 1 to {MOST_DAYS} days.")
        return days

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        name, about = cleaned.get("carrier_name", ""), cleaned.get("type")
        others = FilingRule.objects.exclude(pk=self.instance.pk).exclude(carrier_name=name)
        if about and others.filter(carrier_name__iexact=name, type=about).exists():
            self.add_error("carrier_name", "This carrier already has a rule for this type.")
        return cleaned
