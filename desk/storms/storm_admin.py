"""Storms at the desk: leads open, dismiss, answer and close them, everybody else reads."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID, uuid4

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from desk.common.admin_base import ModelAdmin
from desk.common.controls import foreign_column, isolated
from desk.common.forms import LONGEST_TEXT
from desk.common.requests import StaffRequest
from desk.models import Storm
from desk.storms import replies, services
from tickets.changes.actors import NotAllowed

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

PAGE = "admin:desk_storm_change"
MOST_SHOWN = 25
# Unfold's decorator takes it, and is annotated as if it did not.
STATE: Any = gettext_lazy("state")
DONE = {
    Storm.State.OPEN: gettext_noop("Storm opened. Its tickets are linked, and new ones will be."),
    Storm.State.DISMISSED: gettext_noop("Storm dismissed."),
    Storm.State.CLOSED: gettext_noop("Storm closed."),
}


class Linked(TypedDict):
    """What the list adds to storms: how many tickets each has."""

    number: int


class OpenForm(forms.Form):
    title = forms.CharField(
        label=gettext_lazy("Title"),
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("What happened. Agents see it on each ticket."),
    )


class ReplyForm(forms.Form):
    key = forms.UUIDField(widget=forms.HiddenInput)
    text = forms.CharField(
        max_length=LONGEST_TEXT,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text=gettext_lazy("Sent to every company with an open ticket in this storm."),
    )


@admin.register(Storm)
class StormAdmin(ModelAdmin):
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
    list_per_page = 25
    ordering = ("-pk",)
    sortable_by = ()
    show_full_result_count = False
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

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path("<int:storm_id>/reply/", guarded(self.reply_page), name="desk_storm_reply"),
            path(
                "<int:storm_id>/decide/<slug:to>/",
                guarded(self.decide_page),
                name="desk_storm_decide",
            ),
            *super().get_urls(),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Storm]:
        storms: QuerySet[Storm] = super().get_queryset(request)
        return storms.annotate(number=Count("tickets"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Storm | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Storm | None = None) -> bool:
        return False

    @display(
        description=STATE,
        label={"proposed": "warning", "open": "danger", "closed": "success"},
    )
    def state_label(self, storm: Storm) -> tuple[str, str]:
        return storm.state, storm.get_state_display()

    @admin.display(description=gettext_lazy("storm"))
    def name_text(self, storm: Storm) -> SafeString | str:
        return isolated(str(storm))

    @admin.display(description=gettext_lazy("tickets"))
    def linked(self, storm: "WithAnnotations[Storm, Linked]") -> int:
        return storm.number

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method == "POST":
            raise PermissionDenied
        storm: Storm | None = self.get_object(request, object_id)
        context = {**self.context(request, storm), **(extra_context or {})} if storm else None
        return super().change_view(request, object_id, form_url, context)

    def context(self, request: HttpRequest, storm: Storm) -> dict[str, Any]:
        """What stands beside the fields: forms for leads, replies so far, the newest tickets."""
        linked = storm.tickets.select_related("company", "type")
        return {
            "storm": storm,
            "may_decide": request.user.has_perm("desk.answer_storm"),
            "open_form": OpenForm(),
            "reply_form": ReplyForm(initial={"key": uuid4()}),
            "replies": storm.replies.select_related("user"),
            "companies": storm.tickets.values("company").distinct().count(),
            "tickets": linked.order_by("-pk")[:MOST_SHOWN],
            "most": MOST_SHOWN,
        }

    def decide_page(self, request: StaffRequest, storm_id: int, to: str) -> HttpResponse:
        if to not in DONE:
            raise Http404
        state = Storm.State(to)
        form = OpenForm(request.POST)
        form.is_valid()
        title = form.cleaned_data.get("title", "")

        def decide() -> str:
            services.decide(storm_id, state, user=request.user, title=title)
            return gettext(DONE[state])

        return self.do(request, storm_id, decide)

    def reply_page(self, request: StaffRequest, storm_id: int) -> HttpResponse:
        form = ReplyForm(request.POST)

        def reply() -> str:
            if not form.is_valid():
                raise services.StormRefused(gettext("Write something."))
            text, key = form.cleaned_data["text"], UUID(str(form.cleaned_data["key"]))
            made = replies.start_reply(storm_id, text, user=request.user, key=key)
            if made.finished_at:
                return f"{made}."
            return gettext("The reply is being sent. Its progress is shown below.")

        return self.do(request, storm_id, reply)

    def do(self, request: StaffRequest, storm_id: int, act: Callable[[], str]) -> HttpResponse:
        """A POST that changes something, with what it says on the storm's page."""
        if not request.user.has_perm("desk.answer_storm"):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            messages.success(request, act())
        except NotAllowed as refusal:
            raise PermissionDenied from refusal
        except services.StormRefused as refusal:
            messages.error(request, str(refusal))
        except Storm.DoesNotExist as missing:
            raise Http404 from missing
        return redirect(PAGE, storm_id)
