"""Pages of webhooks: find those that need attention, pause and resume."""

from collections.abc import Iterable

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminTextareaWidget

from core.jobs.failing_rows import try_each
from core.values.ids import read_id
from deliveries.monitoring import delivery_details, needs_attention
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.support import actions
from webhooks.models import Webhook

PAGE = "admin:webhooks_webhook_change"
LIST = "admin:webhooks_webhook_changelist"
MOST_AT_ONCE = 200


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=actions.LONGEST_REASON,
        help_text=gettext_lazy("Shown to the company."),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "autofocus": True}),
    )


def shown_webhooks() -> QuerySet[Webhook]:
    """Return all webhooks; their secrets are not even read, let alone decrypted."""
    hidden = ("auth_token", "secret", "next_secret")
    return Webhook.objects.select_related("company").defer(*hidden)


@desk_page("webhooks.view_webhook", "deliveries.view_delivery")
def sick_page(request: StaffRequest) -> HttpResponse:
    """List webhooks that fail, rest or fall behind, the longest first."""
    patients = needs_attention.needing_attention(timezone.now())
    return draw(
        request,
        "admin/webhooks/webhook/sick.html",
        gettext("Webhooks that need attention"),
        patients=[(one, delivery_details.attention_words(one.condition)) for one in patients],
        most=needs_attention.MOST_COUNTED,
    )


@desk_page(actions.PAUSE)
def pause_page(request: StaffRequest) -> HttpResponse:
    webhooks = picked(request)
    form = ReasonForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        return pause_dialog(request, webhooks, form)
    reason = form.cleaned_data["reason"]
    paused: list[int] = []

    def pause(webhook_id: int) -> None:
        if actions.pause_webhook(webhook_id, reason, user=request.user):
            paused.append(webhook_id)

    outcome = try_each([one.pk for one in webhooks], pause)
    text = ngettext("%(count)d webhook paused.", "%(count)d webhooks paused.", len(paused))
    show_outcome(request, text % {"count": len(paused)}, outcome.refused)
    return redirect(PAGE, webhooks[0].pk) if len(webhooks) == 1 else redirect(LIST)


@desk_page(actions.PAUSE, post_only=True)
def resume_page(request: StaffRequest) -> HttpResponse:
    webhooks = picked(request)
    resume_all(request, webhooks)
    return redirect(PAGE, webhooks[0].pk)


def resume_all(request: StaffRequest, webhooks: Iterable[Webhook]) -> None:
    resumed: list[int] = []

    def resume(webhook_id: int) -> None:
        if actions.resume_webhook(webhook_id, user=request.user):
            resumed.append(webhook_id)

    outcome = try_each([one.pk for one in webhooks], resume)
    text = ngettext("%(count)d webhook resumed.", "%(count)d webhooks resumed.", len(resumed))
    show_outcome(request, text % {"count": len(resumed)}, outcome.refused)


def picked(request: StaffRequest) -> list[Webhook]:
    query = request.POST if request.method == "POST" else request.GET
    ids = map(read_id, query.getlist("webhook")[:MOST_AT_ONCE])
    webhooks = list(shown_webhooks().filter(pk__in=[pk for pk in ids if pk]).order_by("pk"))
    if not webhooks:
        raise Http404
    return webhooks


def pause_dialog(request: StaffRequest, webhooks: list[Webhook], form: ReasonForm) -> HttpResponse:
    template, title = "admin/webhooks/webhook/pause.html", gettext("Reason for the pause")
    return draw(request, template, title, webhooks=webhooks, form=form)


def show_outcome(request: HttpRequest, summary: str, refused: dict[int, str]) -> None:
    (messages.warning if refused else messages.success)(request, summary)
    for webhook_id, why in refused.items():
        text = gettext("Webhook %(webhook)s failed: %(why)s")
        messages.error(request, text % {"webhook": webhook_id, "why": why})
