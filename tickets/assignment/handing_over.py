"""Handing over of tickets to colleagues."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from core.values.texts import is_blank
from core.values.zones import active_zone, minute_text
from tickets.assignment import automatic
from tickets.assignment.picking import AgentLoad, loads_for_history
from tickets.assignment.reassigning import AssignmentRefused, assigned_text, lock_and_assign
from tickets.changes.actors import NotAllowed, actor_for
from tickets.changes.history import record_history
from tickets.changes.page_tokens import PageToken, require_read
from tickets.changes.writes import add_comment
from tickets.history_codes import Kind, Rule
from tickets.labels import status_label
from tickets.models import Absence, Agent, Ticket
from tickets.statuses import TERMINAL


class NeedsConfirmation(Exception):
    """The ticket may have to wait with the colleague; `concerns` are the reasons as sentences."""

    def __init__(self, concerns: list[str]) -> None:
        super().__init__(" ".join(concerns))
        self.concerns = concerns


@transaction.atomic
def hand_over(
    ticket_id: int,
    to: Agent,
    *,
    user: User,
    note: str = "",
    seen: PageToken | None = None,
    confirmed: bool = False,
) -> Ticket:
    """Pass an open ticket to a colleague, with an optional note.

    `seen` is the state that the agent's page had shown. Agents may pass on their own and
    unassigned tickets, leads any ticket. Raises Ticket.DoesNotExist, NotAllowed, StaleTicket,
    AssignmentRefused, and NeedsConfirmation unless `confirmed`.
    """
    actor = actor_for(user)
    ticket = Ticket.objects.hold(ticket_id)
    require_read(ticket, seen, user)
    require_holder(ticket, user)
    check_receiver(ticket, to, user)
    concerns = concerns_about(to, ticket)
    if concerns and not confirmed:
        raise NeedsConfirmation(concerns)
    if not is_blank(note):
        add_comment(ticket, actor, note.strip(), public=False)
    former = ticket.agent
    before = lock_and_assign(ticket, to)
    ticket.version += 1
    ticket.save(update_fields=["version"])
    facts = {
        "agent": [former and str(former), before.name],
        "rule": Rule.COLLEAGUE_CHOICE.value,
        "loads": loads_for_history([before]),
    }
    record_history(ticket, actor, Kind.HANDED_OVER, data=facts)
    return ticket


def may_hand_over(ticket: Ticket, user: User) -> bool:
    """Return whether a user may pass on a ticket: own, unassigned, or any if they are a lead."""
    mine = ticket.agent is None or ticket.agent.user_id == user.pk
    return mine or user.has_perm("tickets.assign_ticket")


def require_holder(ticket: Ticket, user: User) -> None:
    if not may_hand_over(ticket, user):
        raise NotAllowed(
            gettext("The ticket is assigned to %(agent)s. Only they or a lead can hand it over.")
            % {"agent": ticket.agent}
        )


def check_receiver(ticket: Ticket, to: Agent, user: User) -> None:
    """Raise AssignmentRefused if the agent cannot get the ticket."""
    if ticket.status in TERMINAL:
        raise AssignmentRefused(
            gettext("The ticket is %(status)s. There is nothing left to hand over.")
            % {"status": status_label(ticket.status)}
        )
    if ticket.agent_id == to.pk:
        raise AssignmentRefused(assigned_text(to))
    if to.user_id == user.pk:
        raise AssignmentRefused(
            gettext("Choose a colleague. To take the ticket yourself, assign it to you.")
        )
    if not to.user.is_active:
        raise AssignmentRefused(gettext("%(agent)s is no longer active.") % {"agent": to})


def concerns_about(to: Agent, ticket: Ticket) -> list[str]:
    """Return sentences on why the ticket may have to wait with this agent."""
    now = timezone.now()
    name = {"agent": str(to)}
    same = Agent.objects.filter(pk=to.pk)
    current = AgentLoad(*automatic.agent_load_fields(same).get())
    concerns = []
    leave = Absence.objects.filter(agent=to, starts_at__lte=now, ends_at__gt=now).first()
    if leave is not None:
        until = minute_text(leave.ends_at, active_zone())
        concerns.append(
            gettext("%(agent)s is on leave until %(until)s.") % {**name, "until": until}
        )
    elif not same.at_work().exists():
        concerns.append(gettext("%(agent)s is away.") % name)
    if current.load >= current.capacity:
        facts = {**name, "load": current.load, "capacity": current.capacity}
        concerns.append(
            gettext("%(agent)s is at capacity, with %(load)d of %(capacity)d tickets.") % facts
        )
    skills = {one.pk for one in to.skills.all()}
    if skills and ticket.type_id not in skills:
        facts = {**name, "type": str(ticket.type)}
        concerns.append(
            gettext("%(agent)s does not usually take tickets of type %(type)s.") % facts
        )
    return concerns
