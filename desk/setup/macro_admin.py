"""Admin page of macros."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import Field
from django.forms import TypedChoiceField
from django.http import HttpRequest
from django.utils.translation import gettext
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget as Boxes

from desk.common.admin_base import ModelAdmin
from desk.models import Macro
from tickets.labels import status_label
from tickets.statuses import AGENT_MOVES


@admin.register(Macro)
class MacroAdmin(ModelAdmin):
    """Admin page of macros: leads write them, agents read them."""

    list_display = ("name", "language", "public", "move_to", "active")
    list_filter = ("active", "language", "public")
    fields = (
        "name",
        "text",
        "public",
        "move_to",
        "reason_code",
        "requested",
        "language",
        "types",
        "active",
    )
    formfield_overrides = {models.ManyToManyField: {"widget": Boxes}}
    show_facets = admin.ShowFacets.NEVER

    def formfield_for_choice_field(
        self, db_field: "Field[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> TypedChoiceField | None:
        # Agents can make only these moves.
        if db_field.name == "move_to":
            moves = [(to.value, status_label(to)) for to in AGENT_MOVES]
            kwargs["choices"] = [("", gettext("do not move")), *moves]
        return super().formfield_for_choice_field(db_field, request, **kwargs)
