"""The desk's view of webhooks: how each does, its last deliveries, pause and resume.

It stands here and not with the webhooks, which know nothing of deliveries.
"""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminTextareaWidget

from core.jobs.failing_rows import do_each
from core.values.ids import read_id
from deliveries.monitoring import log, needs_attention
from desk.common.admin_base import ReadOnlyAdmin
from desk.common.controls import foreign_column, isolated
from desk.common.requests import StaffRequest
from desk.support import actions, delivery_details
from desk.support.sending_pages import SendingPages
from webhooks.event_types import registry
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


class EventTypeFilter(admin.SimpleListFilter):
    title = gettext_lazy("type")
    parameter_name = "type_id__exact"

    def lookups(
        self, request: HttpRequest, model_admin: "admin.ModelAdmin[Any]"
    ) -> list[tuple[str, str]]:
        return [(str(each.id), each.name) for each in registry]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Webhook]) -> QuerySet[Webhook]:
        chosen = self.value()
        return queryset.filter(type_id=chosen) if chosen in dict(self.lookup_choices) else queryset


@admin.register(Webhook)
class WebhookAdmin(SendingPages, ReadOnlyAdmin):
    """Everything but a pause is the company's own. No secrets: they are not even read."""

    company_text = foreign_column("company")
    paused_reason_text = foreign_column("paused_reason")
    list_display = (
        "id",
        "company_text",
        "event_type",
        "url_text",
        "active",
        "paused_reason_text",
    )
    list_filter = ("active", EventTypeFilter)
    list_select_related = ("company",)
    search_fields = ("id__exact", "company__name__istartswith", "url__startswith")
    search_help_text = gettext_lazy("A webhook's ID, or the start of its company's name or URL.")
    fields = (
        "company_text",
        "event_type",
        "url_text",
        "active",
        "max_in_flight",
        "paused_reason_text",
        "resumed_at",
        "created_at",
        "updated_at",
        "deleted_at",
    )
    readonly_fields = fields
    actions = ("pause", "resume")
    ordering = ("-id",)
    list_before_template = "admin/webhooks/webhook/list_links.html"
    change_form_outer_before_template = "admin/webhooks/webhook/health.html"
    change_form_outer_after_template = "admin/webhooks/webhook/log.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        # Secrets are not even read, let alone decrypted.
        hidden = ("auth_token", "secret", "next_secret")
        return super().get_queryset(request).select_related("company").defer(*hidden)

    @admin.display(description=gettext_lazy("type"), ordering="type_id")
    def event_type(self, webhook: Webhook) -> str:
        return webhook.type_name

    @admin.display(description="URL", ordering="url")
    def url_text(self, webhook: Webhook) -> str:
        if webhook.fetched:
            return gettext("none: its company fetches the events")
        return isolated(webhook.url)

    def has_pause_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(actions.PAUSE)

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path("sick/", guarded(self.sick_page), name="webhooks_webhook_sick"),
            path("pause/", guarded(self.pause_page), name="webhooks_webhook_pause"),
            path("resume/", guarded(self.resume_page), name="webhooks_webhook_resume"),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        webhook: Webhook | None = self.get_object(request, object_id)
        context: dict[str, Any] = {
            "may_pause": self.has_pause_permission(request),
            "webhook": webhook,
        }
        if webhook is not None and request.user.has_perm("deliveries.view_delivery"):
            context["health"] = health = log.health(webhook, timezone.now())
            context["condition"] = delivery_details.condition_words(health["condition"])
            context["caption"] = gettext("Last deliveries")
            context["log"] = delivery_details.recent_deliveries(webhook)
            context["failure"] = failure_details(webhook)
        context |= extra_context or {}
        return super().change_view(request, object_id, form_url, context)

    def sick_page(self, request: StaffRequest) -> HttpResponse:
        """Who fails, rests or lets deliveries pile up, the longest first."""
        if not (
            self.has_view_permission(request) and request.user.has_perm("deliveries.view_delivery")
        ):
            raise PermissionDenied
        found = needs_attention.needing_attention(timezone.now())
        context = {
            "patients": [(one, delivery_details.attention_words(one.condition)) for one in found],
            "most": needs_attention.MOST_COUNTED,
        }
        return self.page(request, "sick", gettext("Webhooks that need attention"), context)

    @admin.action(description=gettext_lazy("Pause selected webhooks…"), permissions=["pause"])
    def pause(self, request: StaffRequest, queryset: QuerySet[Webhook]) -> HttpResponse | None:
        webhooks = list(queryset[: MOST_AT_ONCE + 1])
        if len(webhooks) > MOST_AT_ONCE:
            text = gettext("Pause at most %(most)d webhooks at a time.")
            messages.error(request, text % {"most": MOST_AT_ONCE})
            return None
        return self.pause_dialog(request, webhooks, ReasonForm())

    @admin.action(description=gettext_lazy("Resume selected webhooks"), permissions=["pause"])
    def resume(self, request: StaffRequest, queryset: QuerySet[Webhook]) -> None:
        self.resume_all(request, queryset[:MOST_AT_ONCE])

    def pause_page(self, request: StaffRequest) -> HttpResponse:
        """GET asks why, POST pauses."""
        webhooks = self.picked(request)
        form = ReasonForm(request.POST or None)
        if request.method != "POST" or not form.is_valid():
            return self.pause_dialog(request, webhooks, form)
        reason = form.cleaned_data["reason"]
        paused: list[int] = []

        def pause(webhook_id: int) -> None:
            if actions.pause_webhook(webhook_id, reason, user=request.user):
                paused.append(webhook_id)

        outcome = do_each([one.pk for one in webhooks], pause)
        text = ngettext("%(count)d webhook paused.", "%(count)d webhooks paused.", len(paused))
        tell(request, text % {"count": len(paused)}, outcome.refused)
        return redirect(PAGE, webhooks[0].pk) if len(webhooks) == 1 else redirect(LIST)

    def resume_page(self, request: StaffRequest) -> HttpResponse:
        if request.method != "POST":
            return HttpResponse(status=405, headers={"Allow": "POST"})
        webhooks = self.picked(request)
        self.resume_all(request, webhooks)
        return redirect(PAGE, webhooks[0].pk)

    def resume_all(self, request: StaffRequest, webhooks: Iterable[Webhook]) -> None:
        resumed: list[int] = []

        def resume(webhook_id: int) -> None:
            if actions.resume_webhook(webhook_id, user=request.user):
                resumed.append(webhook_id)

        outcome = do_each([one.pk for one in webhooks], resume)
        text = ngettext("%(count)d webhook resumed.", "%(count)d webhooks resumed.", len(resumed))
        tell(request, text % {"count": len(resumed)}, outcome.refused)

    def picked(self, request: StaffRequest) -> list[Webhook]:
        if not self.has_pause_permission(request):
            raise PermissionDenied
        sent = request.POST if request.method == "POST" else request.GET
        ids = map(read_id, sent.getlist("webhook")[:MOST_AT_ONCE])
        webhooks = self.get_queryset(request).filter(pk__in=[one for one in ids if one])
        found = list(webhooks.order_by("pk"))
        if not found:
            raise Http404
        return found

    def pause_dialog(
        self, request: StaffRequest, webhooks: list[Webhook], form: ReasonForm
    ) -> HttpResponse:
        context = {"webhooks": webhooks, "form": form}
        return self.page(request, "pause", gettext("Reason for the pause"), context)

    def page(
        self, request: StaffRequest, name: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        common = {**self.admin_site.each_context(request), "title": title}
        template = f"admin/webhooks/webhook/{name}.html"
        return TemplateResponse(request, template, {**common, **context})


def tell(request: HttpRequest, done: str, refused: dict[int, str]) -> None:
    """What was done, and which failed and why."""
    (messages.warning if refused else messages.success)(request, done)
    for webhook_id, why in refused.items():
        text = gettext("Webhook %(webhook)s failed: %(why)s")
        messages.error(request, text % {"webhook": webhook_id, "why": why})


def failure_details(webhook: Webhook) -> dict[str, Any] | None:
    attempt = delivery_details.last_failure(webhook)
    if attempt is None:
        return None
    return {
        "attempt": attempt,
        "outcome": delivery_details.attempt_outcome(attempt.status, attempt.error),
        "answer": delivery_details.readable_text(bytes(attempt.answer)),
    }
