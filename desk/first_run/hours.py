"""Step for the business hours of service levels, as one form: zone, days, from, to."""

from datetime import time
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminTextInputWidget,
)

from desk.first_run import steps
from tickets.agents import wake_assignment
from tickets.local_time import check_zone
from tickets.models import Agent, Calendar, Shift, SLATarget
from tickets.models.clocks import WEEKDAYS
from tickets.sla import recalculation

MIDNIGHT = time(0)


def main_calendar() -> Calendar | None:
    """Return the calendar of the default target, else the first one."""
    target = SLATarget.objects.filter(plan="", type=None).select_related("calendar").first()
    return target.calendar if target else Calendar.objects.first()


def is_plain(calendar: Calendar) -> bool:
    """Tell whether all days have the same single interval, which is all that the form can show."""
    hours = list(calendar.hours.all())
    days = [one.weekday for one in hours]
    return len({(one.starts, one.ends) for one in hours}) == 1 and len(set(days)) == len(days)


class HoursForm(forms.Form):
    time_zone = forms.CharField(
        label=gettext_lazy("Time zone"),
        max_length=50,
        validators=[check_zone],
        help_text=gettext_lazy("For example America/Mexico_City."),
        widget=UnfoldAdminTextInputWidget(attrs={"list": "zones", "autocomplete": "off"}),
    )
    days = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Days"),
        coerce=int,
        choices=WEEKDAYS,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    starts = forms.TimeField(
        label=gettext_lazy("From"),
        widget=UnfoldAdminTextInputWidget(attrs={"type": "time"}),
    )
    ends = forms.TimeField(
        label=gettext_lazy("To"),
        help_text=gettext_lazy("00:00 means the end of the day."),
        widget=UnfoldAdminTextInputWidget(attrs={"type": "time"}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        starts, ends = cleaned.get("starts"), cleaned.get("ends")
        if starts is not None and ends is not None and MIDNIGHT != ends <= starts:
            text = gettext("The end must be after the start.")
            raise ValidationError({"ends": text})
        return cleaned


def hours_form(calendar: Calendar | None, name: str = "hours") -> HoursForm:
    """Return the form with the current hours; `name` is the prefix of its field ids."""
    hours = list(calendar.hours.all()) if calendar else []
    starts, ends = (hours[0].starts, hours[0].ends) if hours else (time(9), time(18))
    return HoursForm(
        auto_id=f"{name}_%s",
        initial={
            "time_zone": calendar.time_zone if calendar else "UTC",
            "days": [one.weekday for one in hours] or list(range(5)),
            "starts": f"{starts:%H:%M}",
            "ends": f"{ends:%H:%M}",
        },
    )


@transaction.atomic
def set_hours(form: HoursForm, by: User) -> None:
    """Replace the main calendar's hours by a valid form, and recalculate due dates."""
    existing = main_calendar()
    if existing is None:
        existing = Calendar.objects.create(name=gettext("Working week"))
    calendar = Calendar.objects.select_for_update(no_key=True).get(pk=existing.pk)
    chosen = form.cleaned_data
    calendar.time_zone = chosen["time_zone"]
    calendar.save(update_fields=["time_zone"])
    calendar.hours.all().delete()
    for weekday in chosen["days"]:
        calendar.hours.create(weekday=weekday, starts=chosen["starts"], ends=chosen["ends"])
    steps.settle_step("hours", by)
    recalculation.rules_changed()


@transaction.atomic
def give_shifts(form: HoursForm, by: User) -> int:
    """Give the hours of a valid form to active agents without shifts; returns their number."""
    active = Agent.objects.filter(user__is_active=True).order_by("pk")
    # Lock before reading shifts, so that two leads do not add them twice.
    locked = [agent.pk for agent in active.select_for_update(no_key=True, of=("self",))]
    agents = list(active.filter(pk__in=locked, shifts=None))
    chosen = form.cleaned_data
    times = {"starts": chosen["starts"], "ends": chosen["ends"]}
    Shift.objects.bulk_create(
        Shift(agent=agent, weekday=day, **times) for agent in agents for day in chosen["days"]
    )
    Agent.objects.filter(pk__in=[one.pk for one in agents]).update(time_zone=chosen["time_zone"])
    steps.settle_step("agents", by)
    wake_assignment()
    return len(agents)
