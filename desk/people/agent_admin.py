"""Agents as leads see them: what they take, when they are there, and what they leave behind."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget as Boxes

from desk.common.admin_base import ModelAdmin, NamedInline
from desk.common.forms import AssignForm, Workload
from desk.common.requests import StaffRequest
from tickets import agents
from tickets.assignment import reassigning
from tickets.changes.actors import NotAllowed
from tickets.models import Absence, Agent, Shift, Ticket
from tickets.models.agents import AgentQuerySet
from tickets.models.tickets import TicketQuerySet

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

PAGE = "admin:tickets_agent_change"
HAND_OVER = "admin:tickets_agent_hand_over"
ASSIGN = "tickets.assign_ticket"


class ShiftInline(NamedInline):
    model = Shift
    extra = 0
    fields = ("weekday", "starts", "ends")


class AbsenceInline(NamedInline):
    model = Absence
    extra = 0
    fields = ("starts_at", "ends_at", "reason")


@admin.register(Agent)
class AgentAdmin(ModelAdmin):
    """Made by an invitation or a command, which also give the permissions."""

    list_display = ("user", "there", "available", "carries", "time_zone", "last_assigned_at")
    list_filter = ("available",)
    list_per_page = 25
    show_full_result_count = False
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

    def get_urls(self) -> list[URLPattern]:
        guarded = self.admin_site.admin_view
        return [
            path(
                "<int:agent_id>/hand-over/",
                guarded(self.hand_over_page),
                name="tickets_agent_hand_over",
            ),
            path(
                "<int:agent_id>/available/",
                guarded(self.available_page),
                name="tickets_agent_available",
            ),
            *super().get_urls(),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Agent]:
        everybody = cast(AgentQuerySet, super().get_queryset(request))
        return everybody.select_related("user").with_loads().with_presence()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Agent | None = None) -> bool:
        return False

    def has_assign_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(ASSIGN)

    @admin.display(boolean=True, description=gettext_lazy("available now"))
    def there(self, agent: "WithAnnotations[Agent, Workload]") -> bool:
        return agent.there

    @admin.display(description=gettext_lazy("active tickets"))
    def carries(self, agent: "WithAnnotations[Agent, Workload]") -> str:
        counts = {"load": agent.load, "capacity": agent.capacity}
        return gettext("%(load)d of %(capacity)d") % counts

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        # Only what was changed: assignment writes to the same row.
        agents.change_agent(obj, [name for name in form.changed_data if name != "skills"])
        if "available" in form.changed_data and not obj.available:
            propose_to_hand_over(request, obj)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        super().save_formset(request, form, formset, change)
        agents.wake_assignment()

    def hand_over_page(self, request: StaffRequest, agent_id: int) -> HttpResponse:
        """GET asks to whom and why; POST gives away what they hold, so many at a time."""
        if not self.has_assign_permission(request):
            raise PermissionDenied
        agent: Agent | None = self.get_object(request, str(agent_id))
        if agent is None:
            raise Http404
        form = AssignForm(request.POST or None, excluding=agent)
        if request.method == "POST" and form.is_valid():
            try:
                left, refused = reassigning.reassign_all_of(
                    agent, user=request.user, **form.cleaned_data
                )
            except reassigning.NotGiven as refusal:
                messages.error(request, str(refusal))
            else:
                if not left:
                    text = gettext("%(agent)s has no open tickets left.")
                    messages.success(request, text % {"agent": agent})
                    return redirect(PAGE, agent_id)
                for ticket_id, why in refused.items():
                    text = gettext("Ticket %(ticket)s was not reassigned: %(why)s")
                    messages.error(request, text % {"ticket": ticket_id, "why": why})
                if left > len(refused):
                    text = ngettext(
                        "%(count)d ticket is left. Submit again to continue.",
                        "%(count)d tickets are left. Submit again to continue.",
                        left,
                    )
                    messages.warning(request, text % {"count": left})
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Reassign the tickets of %(agent)s") % {"agent": agent},
            "original": agent,
            "held": open_tickets(agent).count(),
            "most": reassigning.MOST_AT_ONCE,
            "form": form,
        }
        return TemplateResponse(request, "admin/tickets/agent/hand_over.html", context)

    def available_page(self, request: StaffRequest, agent_id: int) -> HttpResponse:
        """Take a POST of who comes or goes: agents for themselves, leads for all."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        agent = get_object_or_404(Agent.objects.select_related("user"), pk=agent_id)
        try:
            agents.set_available(agent, "there" in request.POST, user=request.user)
        except NotAllowed as refusal:
            raise PermissionDenied from refusal
        text = gettext("%(agent)s is away now and gets no new tickets.")
        if agent.available:
            text = gettext("%(agent)s is available now.")
        messages.success(request, text % {"agent": agent})
        return redirect("admin:index")


def propose_to_hand_over(request: HttpRequest, agent: Agent) -> None:
    """Tell who has sent an agent away what they still hold, and where others are given it."""
    held = open_tickets(agent).count()
    if not held:
        return
    text = ngettext(
        "%(agent)s keeps %(count)d open ticket.", "%(agent)s keeps %(count)d open tickets.", held
    )
    warn_with_link(request, agent, text % {"agent": agent, "count": held})


def tell_what_is_left(request: HttpRequest, agent: Agent) -> None:
    """Tell who has switched an agent off what becomes of their tickets (decision N27)."""
    held = open_tickets(agent)
    ours = held.needing_agent().count()
    waiting = held.count() - ours
    if ours:
        text = ngettext(
            "%(count)d ticket of %(agent)s is being assigned to somebody else.",
            "%(count)d tickets of %(agent)s are being assigned to others.",
            ours,
        )
        messages.info(request, text % {"count": ours, "agent": agent})
    if waiting:
        text = ngettext(
            "%(count)d ticket waits for the company and will be assigned to somebody else when it"
            " replies.",
            "%(count)d tickets wait for the company and will be assigned to others when it"
            " replies.",
            waiting,
        )
        warn_with_link(request, agent, text % {"count": waiting})


def warn_with_link(request: HttpRequest, agent: Agent, text: str) -> None:
    """Say so, and where the open tickets are reassigned at once."""
    if request.user.has_perm(ASSIGN):
        address, link = reverse(HAND_OVER, args=[agent.pk]), gettext("Reassign now")
        html = format_html('{} <a class="underline" href="{}">{}</a>', text, address, link)
        messages.warning(request, html)
    else:
        messages.warning(request, f"{text} {gettext('A lead can reassign them now.')}")


def open_tickets(agent: Agent) -> TicketQuerySet:
    return Ticket.objects.open().filter(agent=agent)
