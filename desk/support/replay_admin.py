"""Many deliveries sent again: operators choose, see the count, type it, watch the run, stop it."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext

from deliveries.models import Replay, State
from deliveries.upkeep import choosing, replaying
from deliveries.upkeep.choosing import Choice, ChosenCount, WaitsFor
from desk.common.admin_base import ReadOnlyAdmin
from desk.common.controls import isolated
from desk.common.requests import StaffRequest
from desk.common.times import as_clock_time
from desk.support import actions
from desk.support.replay_forms import ConfirmForm, ReplayForm
from webhooks.event_types import registry

LIST = "admin:deliveries_replay_changelist"
PAGE = "admin:deliveries_replay_change"
STATES = {
    "running": gettext_noop("running"),
    "done": gettext_noop("done"),
    "stopped": gettext_noop("stopped"),
}
WAITS = {
    WaitsFor.PAUSED: gettext_noop("%(count)s of them wait: their webhook is paused."),
    WaitsFor.INACTIVE: gettext_noop("%(count)s of them wait: their company is inactive."),
    WaitsFor.HELD: gettext_noop("%(count)s of them wait: their host is held."),
}


@admin.register(Replay)
class ReplayAdmin(ReadOnlyAdmin):
    list_display = ("name", "about", "progress", "rate", "by", "begun")
    list_display_links = ("name",)
    fields = readonly_fields = (
        "about",
        "since",
        "until",
        "rate",
        "progress",
        "sent",
        "by",
        "begun",
        "ended_at",
        "stopped_by",
    )
    sortable_by = ()
    ordering = ("-pk",)
    list_before_template = "admin/deliveries/replay/list_links.html"
    change_form_outer_before_template = "admin/deliveries/replay/stop.html"

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path("new/", guarded(self.new_page), name="deliveries_replay_new"),
            path("<id:run_id>/stop/", guarded(self.stop_page), name="deliveries_replay_stop"),
            *super().get_urls(),
        ]

    @admin.display(description=gettext_lazy("run"))
    def name(self, run: Replay) -> str:
        return gettext("Run %(number)d") % {"number": run.pk}

    @admin.display(description=gettext_lazy("begun"))
    def begun(self, run: Replay) -> SafeString:
        return as_clock_time(run.created_at)

    @admin.display(description=gettext_lazy("deliveries"))
    def about(self, run: Replay) -> str | SafeString:
        words = []
        if run.company_id is not None:
            words.append(gettext("company %(company)d") % {"company": run.company_id})
        if run.webhook_id is not None:
            words.append(gettext("webhook %(webhook)d") % {"webhook": run.webhook_id})
        if run.type_id is not None:
            words.append(registry.name(run.type_id))
        return isolated(", ".join([*words, *filter(None, [run.host]), run.get_state_display()]))

    @admin.display(description=gettext_lazy("progress"))
    def progress(self, run: Replay) -> str:
        text = gettext("%(state)s, %(passed)s of %(total)s")
        state = gettext(STATES[replaying.replay_state(run)])
        return text % {"state": state, "passed": f"{run.passed:,}", "total": f"{run.total:,}"}

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        run: Replay | None = self.get_object(request, object_id)
        goes_on = run is not None and run.ended_at is None
        left = replaying.seconds_left(run) if run else 0
        context = {
            "run": run,
            "progress_text": self.progress(run) if run else "",
            "goes_on": goes_on,
            "may_stop": goes_on and request.user.has_perm(actions.STOP_REPLAY),
            "minutes_left": -(-left // 60),
            "still": run is not None and replaying.stands_still(run),
        }
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    def new_page(self, request: StaffRequest) -> HttpResponse:
        """GET counts what is chosen, POST with that number begins."""
        if not request.user.has_perm(actions.BEGIN_REPLAY):
            raise PermissionDenied
        data = request.POST if request.method == "POST" else request.GET
        form = ReplayForm(data or None, initial={"state": State.GIVEN_UP.slug})
        context: dict[str, Any] = {"form": form}
        if form.is_valid():
            choice = form.choice()
            chosen = choosing.count_chosen(choice)
            confirmation = ConfirmForm(request.POST or None, chosen)
            if confirmation.is_valid():
                return self.begin(request, form, choice, chosen)
            until = {"until": choice.until.isoformat()}
            given = {name: data.get(name, "") for name in form.fields} | until
            context |= {
                "chosen": chosen,
                "shown": f"{chosen.deliveries:,}",
                "given": given,
                "remarks": remark_words(chosen),
                "confirmation": confirmation,
            }
        common = {**self.admin_site.each_context(request), "title": gettext("Send again")}
        template = "admin/deliveries/replay/new.html"
        return TemplateResponse(request, template, {**common, **context})

    def begin(
        self, request: StaffRequest, form: ReplayForm, choice: Choice, chosen: ChosenCount
    ) -> HttpResponse:
        rate, confirmed = form.cleaned_data["rate"], chosen.deliveries
        done = actions.send_chosen_again(
            choice, chosen, rate=rate, confirmed=confirmed, user=request.user
        )
        if isinstance(done, Replay):
            messages.success(request, gettext("The run has begun."))
            return redirect(PAGE, done.pk)
        text = ngettext(
            "%(count)d delivery will be sent again.",
            "%(count)d deliveries will be sent again.",
            done,
        )
        messages.success(request, text % {"count": done})
        return redirect(LIST)

    def stop_page(self, request: StaffRequest, run_id: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not request.user.has_perm(actions.STOP_REPLAY):
            raise PermissionDenied
        try:
            actions.stop_sending_again(run_id, user=request.user)
            messages.success(request, gettext("The run is stopped."))
        except replaying.NoReplay:
            messages.warning(request, gettext("This run has ended already."))
        return redirect(PAGE, run_id)


def remark_words(chosen: ChosenCount) -> list[str]:
    """Which of them wait, and which more are left out."""
    words = [gettext(WAITS[why]) % {"count": f"{count:,}"} for why, count in chosen.waiting.items()]
    if chosen.deleted:
        text = gettext("%(count)s more are left out: their webhook is deleted.")
        words.append(text % {"count": f"{chosen.deleted:,}"})
    return words
