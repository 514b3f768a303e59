"""Webhooks at the desk: their health and last deliveries, pause and resume.

It is not in the app `webhooks`, which must not import deliveries.
"""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from deliveries.monitoring import delivery_details, log
from desk.common.admin_base import ReadOnlyAdmin
from desk.common.controls import foreign_column, isolate_text
from desk.common.requests import StaffRequest
from desk.support import actions, webhook_pages
from desk.support.webhook_pages import MOST_AT_ONCE
from webhooks.event_types import registry
from webhooks.models import Webhook


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
class WebhookAdmin(ReadOnlyAdmin):
    """Webhooks, which only their companies change, except for a pause. Secrets are not read."""

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
        return webhook_pages.shown_webhooks()

    @admin.display(description=gettext_lazy("type"), ordering="type_id")
    def event_type(self, webhook: Webhook) -> str:
        return webhook.type_name

    @admin.display(description="URL", ordering="url")
    def url_text(self, webhook: Webhook) -> str:
        if webhook.fetched:
            return gettext("none: its company fetches the events")
        return isolate_text(webhook.url)

    def has_pause_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(actions.PAUSE)

    def extra_context(self, request: HttpRequest, row: Webhook) -> dict[str, Any]:
        context = {"may_pause": self.has_pause_permission(request), "webhook": row}
        if not request.user.has_perm("deliveries.view_delivery"):
            return context
        health = log.health(row, timezone.now())
        return {
            **context,
            "health": health,
            "condition": delivery_details.condition_words(health["condition"]),
            "caption": gettext("Last deliveries"),
            "log": delivery_details.recent_deliveries(row),
            "failure": failure_details(row),
        }

    @admin.action(description=gettext_lazy("Pause selected webhooks…"), permissions=["pause"])
    def pause(self, request: StaffRequest, queryset: QuerySet[Webhook]) -> HttpResponse | None:
        webhooks = list(queryset[: MOST_AT_ONCE + 1])
        if len(webhooks) > MOST_AT_ONCE:
            text = gettext("Pause at most %(most)d webhooks at a time.")
            messages.error(request, text % {"most": MOST_AT_ONCE})
            return None
        return webhook_pages.pause_dialog(request, webhooks, webhook_pages.ReasonForm())

    @admin.action(description=gettext_lazy("Resume selected webhooks"), permissions=["pause"])
    def resume(self, request: StaffRequest, queryset: QuerySet[Webhook]) -> None:
        webhook_pages.resume_all(request, queryset[:MOST_AT_ONCE])


def failure_details(webhook: Webhook) -> dict[str, Any] | None:
    attempt = delivery_details.last_failure(webhook)
    if attempt is None:
        return None
    return {
        "attempt": attempt,
        "outcome": delivery_details.attempt_outcome(attempt.status, attempt.error),
        "answer": delivery_details.readable_text(bytes(attempt.answer)),
    }
