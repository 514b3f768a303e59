"""Deliveries at the desk: their requests and responses, and sending them again."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from deliveries.engine import signature_check
from deliveries.models import OPEN, Delivery, State
from deliveries.monitoring import delivery_details
from desk.common.admin_base import ReadOnlyAdmin, ShortPaginator
from desk.common.controls import isolate_text
from desk.common.requests import StaffRequest
from desk.common.times import as_clock_time
from desk.support import actions

LIST = "admin:deliveries_delivery_changelist"


class StateFilter(admin.SimpleListFilter):
    """Filter by state, with conditions that select partitions and can use an index."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(
        self, request: HttpRequest, model_admin: "admin.ModelAdmin[Any]"
    ) -> list[tuple[str, str]]:
        return [(state.slug, str(state.label)) for state in State]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> QuerySet[Delivery]:
        match self.value():
            case State.WAITING.slug:
                return queryset.filter(archived_on=OPEN)
            case State.DELIVERED.slug:
                return queryset.filter(state=State.DELIVERED, archived_on__lt=OPEN)
            case State.GIVEN_UP.slug:
                return queryset.filter(state=State.GIVEN_UP)
            case State.CANCELLED.slug:
                return queryset.filter(state=State.CANCELLED)
        return queryset


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "webhook",
        "about",
        "state_label",
        "attempts",
        "outcome",
        "created",
    )
    list_filter = (StateFilter,)
    sortable_by = ()
    search_fields = ("id",)
    search_help_text = gettext_lazy("An X-Webhook-Id.")
    fields = (
        "id",
        "webhook",
        "company",
        "about",
        "state_label",
        "attempts",
        "due_at",
        "outcome",
        "created",
        "finished_at",
    )
    readonly_fields = fields
    actions = ("send_again",)
    ordering = ("-id",)
    paginator = ShortPaginator
    list_before_template = "admin/webhooks/webhook/list_links.html"
    change_form_outer_before_template = "admin/deliveries/delivery/send_again.html"
    change_form_outer_after_template = "admin/deliveries/delivery/parts.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        hidden = (f"webhook__{name}" for name in ("auth_token", "secret", "next_secret"))
        return super().get_queryset(request).select_related("webhook__company").defer(*hidden)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Delivery], search_term: str
    ) -> tuple[QuerySet[Delivery], bool]:
        if not search_term.strip():
            return queryset, False
        try:
            return queryset.filter(pk=search_term.strip()), False
        except ValidationError:
            return queryset.none(), False

    def has_send_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(actions.SEND_AGAIN)

    def extra_context(self, request: HttpRequest, row: Delivery) -> dict[str, Any]:
        at = row.first_attempt_at or timezone.now()
        secret = signature_check.secret_status(row.webhook, at, timezone.now())
        may_send_again = self.has_send_again_permission(request)
        return {
            **delivery_details.delivery_parts(row),
            "secret": delivery_details.signature_words(secret),
            "may_send_again": may_send_again and row.webhook.deleted_at is None,
        }

    @admin.action(description=gettext_lazy("Send again"), permissions=["send_again"])
    def send_again(self, request: StaffRequest, queryset: QuerySet[Delivery]) -> None:
        ids = list(queryset.values_list("pk", flat=True)[: actions.MOST_AT_ONCE + 1])
        try:
            again, refused = actions.send_again(ids, user=request.user)
        except ValueError as error:
            messages.error(request, str(error))
            return
        text = ngettext(
            "%(count)d delivery will be sent again.",
            "%(count)d deliveries will be sent again.",
            again,
        )
        (messages.warning if refused else messages.success)(request, text % {"count": again})
        for delivery_id, why in refused.items():
            text = gettext("Delivery %(delivery)s failed: %(why)s")
            messages.error(request, text % {"delivery": delivery_id, "why": why})

    @admin.display(description=gettext_lazy("about"))
    def about(self, delivery: Delivery) -> str:
        return delivery_details.subject_words(delivery)

    @admin.display(description=gettext_lazy("state"))
    def state_label(self, delivery: Delivery) -> str:
        return delivery.get_state_display()

    @admin.display(description=gettext_lazy("last attempt"))
    def outcome(self, delivery: Delivery) -> str:
        return delivery_details.attempt_outcome(delivery.last_status, delivery.last_error)

    @admin.display(description=gettext_lazy("created"))
    def created(self, delivery: Delivery) -> SafeString:
        return as_clock_time(delivery.created_at)

    @admin.display(description=gettext_lazy("company"))
    def company(self, delivery: Delivery) -> SafeString | str:
        return isolate_text(delivery.webhook.company.name)
