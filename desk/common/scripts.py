"""Mixins that let an admin page load only the scripts of Django that it uses."""

from typing import Any

from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.forms import Media
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse

ACTIONS = Media(js=["admin/js/actions.js"])
# Needed by the links next to a field that open its object in a window of its own.
RELATED = Media(
    js=[
        "admin/js/vendor/jquery/jquery.min.js",
        "admin/js/jquery.init.js",
        "admin/js/admin/RelatedObjectLookups.js",
    ]
)
# The fields for days and times need core.js, but do not name it.
CALENDAR = "admin/js/calendar.js"
FOR_CALENDAR = Media(js=["admin/js/core.js"])
NOTHING = Media()


class OnlyUsedScripts:
    """Mixin of admin pages: a list loads what its actions need, a form what its fields need."""

    @property
    def media(self) -> Media:
        return NOTHING

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response: HttpResponseBase = super().changelist_view(request, *args, **kwargs)  # type: ignore[misc]
        context = response.context_data if isinstance(response, TemplateResponse) else None
        if context and context.get("action_form"):
            context["media"] += ACTIONS
        return response

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        fields = context["adminform"].form.fields.values()
        if any(isinstance(field.widget, RelatedFieldWidgetWrapper) for field in fields):
            context["media"] = RELATED + context["media"]
        if CALENDAR in str(context["media"]):
            context["media"] = FOR_CALENDAR + context["media"]
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)  # type: ignore[misc]
        return response


class NoRowScripts:
    """Mixin of inlines, whose rows Unfold adds and removes with a script of its own."""

    @property
    def media(self) -> Media:
        return NOTHING
