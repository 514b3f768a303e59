"""Admin page of agents for leads: skills and capacity, shifts and absences."""

from typing import Any, cast

from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget as Boxes

from desk.common.admin_base import LabelledInline, ModelAdmin, NeverAdded, NeverDeleted
from desk.common.forms import Workload
from desk.common.generics import WithAnnotations
from desk.people.agent_pages import suggest_hand_over
from tickets import agents
from tickets.models import Absence, Agent, Shift
from tickets.models.agents import AgentQuerySet


class ShiftInline(LabelledInline):
    model = Shift
    extra = 0
    fields = ("weekday", "starts", "ends")


class AbsenceInline(LabelledInline):
    model = Absence
    extra = 0
    fields = ("starts_at", "ends_at", "reason")


@admin.register(Agent)
class AgentAdmin(NeverAdded, NeverDeleted, ModelAdmin):
    """Admin page of agents; invitations and commands add them, with their permissions."""

    list_display = ("user", "there", "available", "carries", "time_zone", "last_assigned_at")
    list_filter = ("available",)
    search_fields = ("user__username",)
    fields = (
        "user",
        "available",
        "capacity",
        "skills",
        "time_zone",
        "carries",
        "last_assigned_at",
    )
    readonly_fields = ("user", "carries", "last_assigned_at")
    formfield_overrides = {models.ManyToManyField: {"widget": Boxes}}
    inlines = (ShiftInline, AbsenceInline)
    list_before_template = "admin/tickets/agent/list_links.html"
    change_form_outer_before_template = "admin/tickets/agent/before.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        everybody = cast(AgentQuerySet, super().get_queryset(request))
        return everybody.select_related("user").with_loads().with_presence()

    @admin.display(boolean=True, description=gettext_lazy("available now"))
    def there(self, agent: WithAnnotations[Agent, Workload]) -> bool:
        return agent.there

    @admin.display(description=gettext_lazy("active tickets"))
    def carries(self, agent: WithAnnotations[Agent, Workload]) -> str:
        counts = {"load": agent.load, "capacity": agent.capacity}
        return gettext("%(load)d of %(capacity)d") % counts

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        # Save only changed fields, since assignment writes to the same row.
        agents.change_agent(obj, [name for name in form.changed_data if name != "skills"])
        if "available" in form.changed_data and not obj.available:
            suggest_hand_over(request, obj)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        agents.wake_assignment()
