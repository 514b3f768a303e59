"""Admin pages of storms: leads open, dismiss, answer and close them, others read."""

from typing import Any, TypedDict
from uuid import uuid4

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from desk.common.admin_base import ModelAdmin, ReadOnly
from desk.common.controls import foreign_column, isolate_text
from desk.common.generics import WithAnnotations
from desk.models import Storm
from desk.storms import storm_pages

MOST_SHOWN = 25
# Unfold's decorator accepts lazy texts, but its annotation does not.
STATE: Any = gettext_lazy("state")


class Linked(TypedDict):
    """Annotation of the list: number of linked tickets."""

    number: int


@admin.register(Storm)
class StormAdmin(ReadOnly, ModelAdmin):
    carrier_name_text = foreign_column("carrier_name")
    title_text = foreign_column("title")
    list_display = (
        "name_text",
        "carrier_name_text",
        "state_label",
        "found",
        "usual",
        "linked",
        "hour",
    )
    list_filter = ("state",)
    ordering = ("-pk",)
    sortable_by = ()
    change_form_template = "admin/desk/storm/change_form.html"
    fields = readonly_fields = (
        "carrier_name_text",
        "state",
        "title_text",
        "hour",
        "found",
        "usual",
        "linked",
        "decided_by",
        "created_at",
        "closed_at",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Storm]:
        storms: QuerySet[Storm] = super().get_queryset(request)
        return storms.annotate(number=Count("tickets"))

    @display(
        description=STATE,
        label={"proposed": "warning", "open": "danger", "closed": "success"},
    )
    def state_label(self, storm: Storm) -> tuple[str, str]:
        return storm.state, storm.get_state_display()

    @admin.display(description=gettext_lazy("storm"))
    def name_text(self, storm: Storm) -> SafeString | str:
        return isolate_text(str(storm))

    @admin.display(description=gettext_lazy("tickets"))
    def linked(self, storm: WithAnnotations[Storm, Linked]) -> int:
        return storm.number

    def extra_context(self, request: HttpRequest, row: Storm) -> dict[str, Any]:
        """Return forms for leads, replies so far and the newest tickets."""
        linked = row.tickets.select_related("company", "type")
        return {
            "storm": row,
            "may_decide": request.user.has_perm("desk.answer_storm"),
            "open_form": storm_pages.OpenForm(),
            "reply_form": storm_pages.ReplyForm(initial={"key": uuid4()}),
            "replies": row.replies.select_related("user"),
            "companies": row.tickets.values("company").distinct().count(),
            "tickets": linked.order_by("-pk")[:MOST_SHOWN],
            "most": MOST_SHOWN,
        }
