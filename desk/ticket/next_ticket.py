"""The ticket that follows when an agent is done with one."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from desk.common.requests import StaffRequest
from desk.queue import places, walking
from tickets.assignment import taking
from tickets.assignment.reassigning import AssignmentRefused
from tickets.changes.actors import NotAllowed
from tickets.models import Ticket

LIST = "admin:tickets_ticket_changelist"
PAGE = "admin:tickets_ticket_change"


def take_next(request: StaffRequest) -> HttpResponse:
    """Take the most urgent unassigned ticket, or open the agent's own most urgent one."""
    try:
        ticket = taking.take_next(request.user)
        if ticket is not None:
            text = gettext("Ticket %(ticket)d is now assigned to you.")
            messages.success(request, text % {"ticket": ticket.pk})
            return redirect(PAGE, ticket.pk)
        own = taking.next_of(taking.agent_of(request.user))
    except (NotAllowed, AssignmentRefused) as error:
        messages.error(request, str(error))
        return redirect(LIST)
    if own is None:
        messages.info(request, gettext("You have no waiting tickets."))
        return redirect(LIST)
    messages.info(request, gettext("No unassigned tickets left. Here is your most urgent one."))
    return redirect(PAGE, own.pk)


def next_page(request: StaffRequest, ticket_id: int) -> HttpResponse:
    """Redirect to the next ticket if the button asked for it, else to the same one.

    A ticket that was not opened from a list is followed by the agent's next own one.
    """
    if "next" not in request.POST:
        return places.stay(request, ticket_id)
    ticket = Ticket.objects.filter(pk=ticket_id).first()
    if ticket is not None and places.list_place(request).query:
        return walking.open_next(request, ticket)
    try:
        agent = taking.agent_of(request.user)
    except NotAllowed as error:
        messages.error(request, str(error))
        return redirect(PAGE, ticket_id)
    following = taking.next_of(agent, after=ticket)
    return redirect(PAGE, following.pk) if following else take_next(request)
