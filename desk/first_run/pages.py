"""First-run page: every step with its current setting and a form."""

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import get_language_info, gettext, gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget as Boxes

from core.values.zones import known_zones
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.first_run import adding_macros, filing, hours, ready_macros, steps
from desk.models import Macro, Preferences
from desk.people.language import save_preferences
from desk.people.preference_pages import PreferencesForm
from tickets.models import Agent, FilingRule, ReasonCode
from tickets.models.carriers import some_carriers

MOST_SHOWN = 100


def own_name(code: str) -> str:
    """Return the name of a language in that language."""
    return str(capfirst(get_language_info(code)["name_local"]))


class ReadyMacrosForm(forms.Form):
    macros = forms.MultipleChoiceField(
        label=gettext_lazy("Macros"),
        choices=lambda: [(ready.slug, ready.title) for ready in ready_macros.READY_MACROS],
        initial=[ready.slug for ready in ready_macros.READY_MACROS],
        widget=Boxes,
    )
    languages = forms.MultipleChoiceField(
        label=gettext_lazy("Languages"),
        choices=lambda: [(code, own_name(code)) for code, _ in settings.LANGUAGES],
        initial=lambda: [code for code, _ in settings.LANGUAGES],
        widget=Boxes,
    )


@desk_page(*steps.LEADS)
def first_run_page(request: StaffRequest) -> HttpResponse:
    """Show the steps; POST runs the action in `do` and redirects to its step."""
    step_forms = current_forms(request)
    if request.method != "POST":
        return draw_first_run(request, step_forms)
    do, slug = request.POST.get("do", ""), request.POST.get("step", "")
    if do in FORMS:
        form = FORMS[do](request)
        if not form.is_valid():
            return draw_first_run(request, step_forms | {do: form}, 400)
    elif do == "settle" and slug in steps.STEPS:
        steps.settle_step(slug, request.user)
    elif do == "hide":
        steps.settle_step(steps.HIDDEN, request.user)
        messages.success(request, gettext("The checklist is hidden. This page stays."))
    elif do == "show":
        steps.show_again()
    return redirect(f"{reverse('desk_first_run')}#{do if do in FORMS else slug}")


def choose_language(request: StaffRequest) -> forms.BaseForm:
    form = preferences_form(request, request.POST)
    if form.is_valid():
        save_preferences(form.save(commit=False))
        steps.settle_step("language", request.user)
        messages.success(request, gettext("Saved."))
    return form


def preferences_form(request: StaffRequest, data: Any = None) -> PreferencesForm:
    saved = Preferences.objects.filter(user=request.user).first()
    form = PreferencesForm(data, instance=saved or Preferences(user=request.user))
    form.fields["language"].widget.choices = [
        ("", gettext("as the deployment")),
        *settings.LANGUAGES,
    ]
    return form


def choose_hours(request: StaffRequest) -> forms.BaseForm:
    form = hours.HoursForm(request.POST, auto_id="hours_%s")
    if form.is_valid():
        hours.set_hours(form, request.user)
        messages.success(request, gettext("Saved. Due dates of open tickets follow in minutes."))
    return form


def choose_shifts(request: StaffRequest) -> forms.BaseForm:
    form = hours.HoursForm(request.POST, auto_id="shifts_%s")
    if form.is_valid():
        count = hours.give_shifts(form, request.user)
        text = ngettext("%(count)d agent got shifts.", "%(count)d agents got shifts.", count)
        messages.success(request, text % {"count": count})
    return form


def add_filing_days(request: StaffRequest) -> forms.BaseForm:
    form = filing.FilingDaysForm(request.POST)
    if form.is_valid():
        rule = filing.add_filing_rule(form)
        messages.success(request, gettext("Added: %(rule)s.") % {"rule": rule})
    return form


def add_macros(request: StaffRequest) -> forms.BaseForm:
    form = ReadyMacrosForm(request.POST)
    if form.is_valid():
        chosen = form.cleaned_data
        count = adding_macros.add_ready_macros(chosen["macros"], chosen["languages"])
        text = ngettext("%(count)d macro was added.", "%(count)d macros were added.", count)
        messages.success(request, text % {"count": count})
    return form


# Each function saves a valid form, and returns the form with its errors.
FORMS: dict[str, Callable[[StaffRequest], forms.BaseForm]] = {
    "language": choose_language,
    "hours": choose_hours,
    "filing": add_filing_days,
    "macros": add_macros,
    "agents": choose_shifts,
}


def current_forms(request: StaffRequest) -> dict[str, Any]:
    return {
        "language": preferences_form(request),
        "hours": hours.hours_form(hours.main_calendar()),
        "filing": filing.FilingDaysForm(),
        "macros": ReadyMacrosForm(),
        "agents": hours.hours_form(hours.main_calendar(), "shifts"),
    }


def draw_first_run(
    request: StaffRequest, step_forms: dict[str, Any], status: int = 200
) -> HttpResponse:
    calendar, settled = hours.main_calendar(), steps.settled_slugs()
    zone = ZoneInfo(calendar.time_zone) if calendar else ZoneInfo("UTC")
    rules = FilingRule.objects.select_related("type")
    agents = Agent.objects.filter(user__is_active=True)
    context = {
        "steps": steps.steps_of(settled),
        "hidden": steps.HIDDEN in settled,
        "forms": step_forms,
        "calendar": calendar,
        "plain_hours": calendar is None or hours.is_plain(calendar),
        "time_there": timezone.now().astimezone(zone).strftime("%H:%M"),
        "rules": rules[:MOST_SHOWN],
        "carriers": some_carriers(MOST_SHOWN),
        "codes": ReasonCode.objects.filter(active=True)[:MOST_SHOWN],
        "macro_count": Macro.objects.filter(active=True).count(),
        "agent_count": agents.count(),
        "without_shift": agents.filter(shifts=None).count(),
        "zones": known_zones(),
        "deployment": {
            "zone": settings.DESK_TIME_ZONE,
            "language": dict(settings.LANGUAGES)[settings.DESK_LANGUAGE],
        },
    }
    return draw(request, "desk/first_run.html", gettext("First run"), status=status, **context)
