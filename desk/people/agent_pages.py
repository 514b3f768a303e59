"""Pages that hand an agent's tickets over and set who is available."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext

from desk.common.forms import AssignForm
from desk.common.pages import ASSIGN_TICKET, desk_page, draw
from desk.common.requests import StaffRequest
from tickets import agents
from tickets.assignment import reassigning
from tickets.changes.actors import NotAllowed
from tickets.models import Agent, Ticket
from tickets.models.tickets import TicketQuerySet

PAGE = "admin:tickets_agent_change"
HAND_OVER = "admin:tickets_agent_hand_over"


@desk_page(ASSIGN_TICKET)
def hand_over_page(request: StaffRequest, agent_id: int) -> HttpResponse:
    """GET asks for assignee and reason; POST reassigns a batch of the agent's open tickets."""
    agent = get_object_or_404(Agent.objects.select_related("user"), pk=agent_id)
    form = AssignForm(request.POST or None, excluding=agent)
    if request.method == "POST" and form.is_valid():
        try:
            remaining, refusals = reassigning.reassign_all_of(
                agent, user=request.user, **form.cleaned_data
            )
        except reassigning.AssignmentRefused as refusal:
            messages.error(request, str(refusal))
        else:
            if not remaining:
                text = gettext("%(agent)s has no open tickets left.")
                messages.success(request, text % {"agent": agent})
                return redirect(PAGE, agent_id)
            for ticket_id, why in refusals.items():
                text = gettext("Ticket %(ticket)s was not reassigned: %(why)s")
                messages.error(request, text % {"ticket": ticket_id, "why": why})
            if remaining > len(refusals):
                text = ngettext(
                    "%(count)d ticket is left. Submit again to continue.",
                    "%(count)d tickets are left. Submit again to continue.",
                    remaining,
                )
                messages.warning(request, text % {"count": remaining})
    return draw(
        request,
        "admin/tickets/agent/hand_over.html",
        gettext("Reassign the tickets of %(agent)s") % {"agent": agent},
        original=agent,
        held=open_tickets(agent).count(),
        most=reassigning.MOST_AT_ONCE,
        form=form,
    )


@desk_page(post_only=True)
def available_page(request: StaffRequest, agent_id: int) -> HttpResponse:
    """Set an agent available or away: agents for themselves, leads for all."""
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


def suggest_hand_over(request: HttpRequest, agent: Agent) -> None:
    """Warn about the open tickets of an agent who was set away, with a link to reassign them."""
    count = open_tickets(agent).count()
    if not count:
        return
    text = ngettext(
        "%(agent)s keeps %(count)d open ticket.", "%(agent)s keeps %(count)d open tickets.", count
    )
    warn_with_link(request, agent, text % {"agent": agent, "count": count})


def explain_reassignment(request: HttpRequest, agent: Agent) -> None:
    """Explain what happens to the tickets of an agent who was switched off (decision N27)."""
    tickets = open_tickets(agent)
    ours = tickets.needing_agent().count()
    waiting = tickets.count() - ours
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
    """Warn with a link to reassign the tickets, or a hint to ask a lead."""
    if request.user.has_perm(ASSIGN_TICKET):
        address, link = reverse(HAND_OVER, args=[agent.pk]), gettext("Reassign now")
        html = format_html('{} <a class="underline" href="{}">{}</a>', text, address, link)
        messages.warning(request, html)
    else:
        messages.warning(request, f"{text} {gettext('A lead can reassign them now.')}")


def open_tickets(agent: Agent) -> TicketQuerySet:
    return Ticket.objects.open().filter(agent=agent)
