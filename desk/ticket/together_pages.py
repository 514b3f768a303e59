"""Forms of a ticket's page for collaboration: hand over, watch, snooze, link."""

from collections.abc import Iterable
from typing import cast

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext

from core.values.ids import read_id
from desk.common.forms import Workload
from desk.common.generics import WithAnnotations
from desk.common.pages import CHANGE_TICKET, desk_page, draw
from desk.common.requests import StaffRequest
from desk.common.times import snoozed_text
from desk.queue import places
from desk.queue.queues import forget_counts
from desk.ticket import together, unread
from desk.ticket.next_ticket import next_page
from desk.ticket.pages import find_ticket, show_ticket
from desk.ticket.together import warn_of_unknown_names
from desk.ticket.together_forms import HandOverForm, RelateForm
from tickets.assignment.handing_over import NeedsConfirmation, concerns_about, hand_over
from tickets.assignment.reassigning import AssignmentRefused
from tickets.changes import mentions, snoozing, watching
from tickets.changes.actors import NotAllowed
from tickets.changes.page_tokens import require_page_token
from tickets.changes.relating import NotRelated, relate, unrelate
from tickets.changes.snoozing import NotSnoozed
from tickets.changes.writes import StaleTicket
from tickets.models import Agent, Ticket

MOST_OFFERED = 8


@desk_page(CHANGE_TICKET)
def hand_over_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Show the dialog (GET) or hand over (POST); a refusal shows the form again."""
    ticket = find_ticket(ticket_id)
    if request.method != "POST":
        return hand_over_dialog(request, ticket, HandOverForm())
    form = HandOverForm(request.POST)
    if not form.is_valid():
        refusal = " ".join(map(str, form.errors.get("seen", [])))
        return hand_over_dialog(request, ticket, form, 400, refusal=refusal)
    values = form.cleaned_data
    try:
        hand_over(
            ticket_id,
            values["to"],
            user=request.user,
            note=values["note"],
            seen=values["seen"],
            confirmed=values["confirmed"],
        )
    except NeedsConfirmation as warning:
        return hand_over_dialog(request, ticket, form, 409, concerns=warning.concerns)
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except (StaleTicket, AssignmentRefused) as error:
        fresh = find_ticket(ticket_id)
        return hand_over_dialog(request, fresh, form, 409, refusal=str(error))
    facts = {"ticket": ticket_id, "agent": values["to"]}
    messages.success(request, gettext("Ticket %(ticket)d is now assigned to %(agent)s.") % facts)
    warn_of_unknown_names(request, values["note"])
    return next_page(request, ticket_id)


def hand_over_dialog(
    request: StaffRequest,
    ticket: Ticket,
    form: HandOverForm,
    status: int = 200,
    *,
    refusal: str = "",
    concerns: Iterable[str] = (),
) -> HttpResponse:
    refused = {ticket.pk: refusal} if refusal else None
    query = request.POST or request.GET
    (row,) = unread.shown_tickets([ticket], query, refused, request.user)
    return draw(
        request,
        "admin/tickets/ticket/hand_over.html",
        gettext("Hand over ticket %(ticket)d") % {"ticket": ticket.pk},
        status=status,
        form=form,
        concerns=concerns,
        **row._asdict(),
    )


@desk_page(CHANGE_TICKET)
def colleagues_page(request: StaffRequest) -> HttpResponse:
    """List the active agents whose user name or first name begins with `begin`, as JSON."""
    number = read_id(request.GET.get("ticket", ""))
    ticket = Ticket.objects.filter(pk=number).first() if number else None
    return JsonResponse({"agents": offered(request.GET.get("begin", ""), ticket)})


@desk_page(CHANGE_TICKET, post_only=True)
def watch_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    find_ticket(ticket_id)
    try:
        if "stop" in request.POST:
            watching.stop_watching(ticket_id, user=request.user)
            text = gettext("You no longer watch this ticket.")
        else:
            watching.start_watching(ticket_id, user=request.user)
            text = gettext(
                "You watch this ticket: you are notified when the company answers and when it"
                " is decided."
            )
    except NotAllowed as error:
        messages.error(request, str(error))
    else:
        messages.success(request, text)
    return places.stay(request, ticket_id)


@desk_page(CHANGE_TICKET, post_only=True)
def snooze_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    find_ticket(ticket_id)
    data = request.POST
    try:
        if "wake" in data:
            snoozing.wake(ticket_id, user=request.user)
            text = gettext("The ticket is back in your list.")
        else:
            token = require_page_token(unread.tokens_in(data).get(ticket_id))
            at = together.wake_time(data.get("day", ""))
            until = snoozing.snooze(ticket_id, at, user=request.user, seen=token)
            text = gettext("%(until)s, or until the company writes.")
            text %= {"until": snoozed_text(until)}
    except (NotAllowed, NotSnoozed, StaleTicket) as error:
        messages.error(request, str(error))
    else:
        forget_counts(request.user)
        messages.success(request, text)
    return places.stay(request, ticket_id)


@desk_page(CHANGE_TICKET, post_only=True)
def relate_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Link another ticket or remove a link; an invalid number shows the form again."""
    ticket = find_ticket(ticket_id)
    form = RelateForm(request.POST)
    if not form.is_valid():
        return show_ticket(request, ticket, status=400, relate_form=form)
    other = form.cleaned_data["other"]
    try:
        if form.cleaned_data["remove"]:
            unrelate(ticket_id, other, user=request.user)
        else:
            relate(ticket_id, other, user=request.user)
    except NotRelated as error:
        form.add_error("other", str(error))
        return show_ticket(request, ticket, status=409, relate_form=form)
    return places.stay(request, ticket_id)


def offered(begin: str, ticket: Ticket | None = None) -> list[dict[str, str]]:
    """Return up to MOST_OFFERED colleagues by name, each with their load.

    For a complete user name, `concerns` say why this agent may not get round to the ticket.
    """
    prefix = mentions.fold_name(begin.replace("\x00", "")[: mentions.LONGEST_NAME])
    ids = [
        colleague.agent_id
        for colleague in mentions.colleagues()
        if mentions.fold_name(colleague.username).startswith(prefix)
        or mentions.fold_name(colleague.first_name).startswith(prefix)
    ][:MOST_OFFERED]
    agents = Agent.objects.filter(pk__in=ids).by_name().select_related("user")
    rows = cast(Iterable[WithAnnotations[Agent, Workload]], agents.with_loads().with_presence())
    return [
        {
            "name": agent.user.get_username(),
            "full_name": agent.user.get_full_name(),
            "carries": (
                gettext("%(load)d of %(capacity)d tickets")
                if agent.there
                else gettext("%(load)d of %(capacity)d tickets, away")
            )
            % {"load": agent.load, "capacity": agent.capacity},
            "concerns": " ".join(concerns_about(agent, ticket))
            if ticket and agent.user.get_username() == begin
            else "",
        }
        for agent in rows
    ]
