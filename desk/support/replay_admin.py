"""Replays at the desk: the list of runs that send many deliveries again, and their progress."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from deliveries.models import Replay
from deliveries.upkeep import replaying
from desk.common.admin_base import ReadOnlyAdmin
from desk.common.controls import isolate_text
from desk.common.times import as_clock_time
from desk.support import actions
from webhooks.event_types import registry

STATES = {
    "running": gettext_noop("running"),
    "done": gettext_noop("finished"),
    "stopped": gettext_noop("stopped"),
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
        return isolate_text(", ".join([*words, *filter(None, [run.host]), run.get_state_display()]))

    @admin.display(description=gettext_lazy("progress"))
    def progress(self, run: Replay) -> str:
        text = gettext("%(state)s, %(passed)s of %(total)s")
        state = gettext(STATES[replaying.replay_state(run)])
        return text % {"state": state, "passed": f"{run.passed:,}", "total": f"{run.total:,}"}

    def extra_context(self, request: HttpRequest, row: Replay) -> dict[str, Any]:
        goes_on = row.ended_at is None
        return {
            "run": row,
            "progress_text": self.progress(row),
            "goes_on": goes_on,
            "may_stop": goes_on and request.user.has_perm(actions.STOP_REPLAY),
            "minutes_left": -(-replaying.seconds_left(row) // 60),
            "still": replaying.stands_still(row),
        }
