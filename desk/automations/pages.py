"""List of automations, and the settings page of each.

Switching an automation on, or changing one that is on, has to be confirmed on a page that shows
how many tickets it would touch.
"""

from itertools import groupby

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from desk.automations.forms import AutomationForm
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.queue.automation_lists import list_address
from tickets.automations.due import MOST_COUNTED, count_due
from tickets.automations.switching import CHANGE, automation_for, automations, save_automation
from tickets.models import Automation, TicketType

Kind = Automation.Kind


@desk_page("tickets.view_automation")
def automations_page(request: HttpRequest) -> HttpResponse:
    kinds = groupby(automations(), key=lambda one: one.type)
    rows = [(type, [(one, waits_of(one)) for one in ones]) for type, ones in kinds]
    return draw(
        request,
        "desk/automations.html",
        gettext("Automations"),
        kinds=[kind.label for kind in Kind],
        rows=[row for row in rows if any(one.active for one, _ in row[1])],
        off=[row for row in rows if not any(one.active for one, _ in row[1])],
    )


def waits_of(one: Automation) -> str:
    """Describe the waiting time in one line."""
    if one.kind == Kind.ESCALATE:
        text = ngettext(
            "%(count)d working hour before", "%(count)d working hours before", one.hours_before
        )
        return text % {"count": one.hours_before}
    if one.kind == Kind.CLOSE:
        days = one.wait_days + one.last_days
        text = ngettext("after %(count)d working day", "after %(count)d working days", days)
        return text % {"count": days}
    text = ngettext(
        "every %(count)d working day, at most %(times)d times",
        "every %(count)d working days, at most %(times)d times",
        one.wait_days,
    )
    return text % {"count": one.wait_days, "times": one.times}


@desk_page(CHANGE)
def settings_page(request: StaffRequest, kind: str, type_id: int) -> HttpResponse:
    """GET shows the settings; POST saves them, and asks for confirmation before it switches on."""
    if kind not in Kind.values:
        raise Http404
    stored = automation_for(Kind(kind), get_object_or_404(TicketType, pk=type_id))
    was_on, act = stored.active, request.POST.get("act", "")
    if act == "off":
        save_automation(stored, active=False, user=request.user)
        messages.success(request, gettext("%(name)s: switched off.") % {"name": stored})
        return redirect("desk_automation", kind, type_id)
    form = AutomationForm(request.POST or None, instance=stored)
    if request.method != "POST":
        return draw_settings(request, stored, form)
    if not form.is_valid():
        return draw_settings(request, stored, form, status=400)
    one = form.save(commit=False)
    on = was_on or act == "on"
    if on and "confirmed" not in request.POST:
        return draw_settings(request, one, form, asking=True)
    save_automation(one, active=on, user=request.user)
    text = gettext("%(name)s: switched on.") if on and not was_on else gettext("%(name)s: saved.")
    messages.success(request, text % {"name": one})
    return redirect("desk_automation", kind, type_id)


def draw_settings(
    request: StaffRequest,
    one: Automation,
    form: AutomationForm,
    *,
    asking: bool = False,
    status: int = 200,
) -> HttpResponse:
    """Draw the settings, or with `asking` their confirmation, with the tickets they would touch."""
    wrong = form.is_bound and not form.is_valid()
    count = None if wrong else count_due(one, timezone.now())
    return draw(
        request,
        "desk/automation.html",
        str(one),
        status=status,
        one=one,
        form=form,
        asking=asking,
        waits=waits_of(one),
        touched="" if count is None else touched_text(count),
        tickets=list_address(one) if count else "",
    )


def touched_text(count: int) -> str:
    """Describe the number of tickets that the automation would touch now."""
    if count > MOST_COUNTED:
        text = gettext("It would touch more than %(count)d tickets today.")
        return text % {"count": MOST_COUNTED}
    return ngettext(
        "It would touch %(count)d ticket today.", "It would touch %(count)d tickets today.", count
    ) % {"count": count}
