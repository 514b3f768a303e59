"""Pages on which operators send many deliveries again, after a confirmation, and stop a run."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_noop, ngettext

from deliveries.models import Replay, State
from deliveries.upkeep import choosing, replaying
from deliveries.upkeep.choosing import Choice, ChosenCount, WaitsFor
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.support import actions
from desk.support.replay_forms import ConfirmForm, ReplayForm

LIST = "admin:deliveries_replay_changelist"
PAGE = "admin:deliveries_replay_change"
WAITS = {
    WaitsFor.PAUSED: gettext_noop("%(count)s of them wait: their webhook is paused."),
    WaitsFor.INACTIVE: gettext_noop("%(count)s of them wait: their company is inactive."),
    WaitsFor.HOST_HELD: gettext_noop("%(count)s of them wait: their host is held."),
}


@desk_page(actions.BEGIN_REPLAY)
def new_page(request: StaffRequest) -> HttpResponse:
    """Count the chosen deliveries (GET), or send them after their number is confirmed (POST)."""
    data = request.POST if request.method == "POST" else request.GET
    form = ReplayForm(data or None, initial={"state": State.GIVEN_UP.slug})
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        choice = form.choice()
        chosen = choosing.count_chosen(choice)
        confirmation = ConfirmForm(request.POST or None, chosen)
        if confirmation.is_valid():
            return begin(request, form, choice, chosen)
        values = {name: data.get(name, "") for name in form.fields}
        # A fixed end, so that no newer delivery changes the number before it is confirmed.
        values["until"] = choice.until.isoformat()
        context |= {
            "chosen": chosen,
            "shown": f"{chosen.deliveries:,}",
            "given": values,
            "remarks": remark_words(chosen),
            "confirmation": confirmation,
        }
    return draw(request, "admin/deliveries/replay/new.html", gettext("Send again"), **context)


def begin(
    request: StaffRequest, form: ReplayForm, choice: Choice, chosen: ChosenCount
) -> HttpResponse:
    rate, confirmed = form.cleaned_data["rate"], chosen.deliveries
    result = actions.send_chosen_again(
        choice, chosen, rate=rate, confirmed=confirmed, user=request.user
    )
    if isinstance(result, Replay):
        messages.success(request, gettext("The run has begun."))
        return redirect(PAGE, result.pk)
    text = ngettext(
        "%(count)d delivery will be sent again.",
        "%(count)d deliveries will be sent again.",
        result,
    )
    messages.success(request, text % {"count": result})
    return redirect(LIST)


@desk_page(actions.STOP_REPLAY, post_only=True)
def stop_page(request: StaffRequest, run_id: int) -> HttpResponse:
    try:
        actions.stop_sending_again(run_id, user=request.user)
        messages.success(request, gettext("The run is stopped."))
    except replaying.NoReplay:
        messages.warning(request, gettext("This run has ended already."))
    return redirect(PAGE, run_id)


def remark_words(chosen: ChosenCount) -> list[str]:
    """Return sentences on how many of the deliveries will wait and how many are skipped."""
    words = [gettext(WAITS[why]) % {"count": f"{count:,}"} for why, count in chosen.waiting.items()]
    if chosen.deleted:
        text = gettext("%(count)s more are left out: their webhook is deleted.")
        words.append(text % {"count": f"{chosen.deleted:,}"})
    return words
