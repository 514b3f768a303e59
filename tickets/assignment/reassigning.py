"""Reassignment of tickets by leads, to an agent or automatically, with a reason in history."""

from collections.abc import Iterable
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext, ngettext

from core.jobs.failing_rows import try_each
from tickets.assignment import automatic
from tickets.assignment.picking import AgentLoad, loads_for_history
from tickets.changes.actors import Actor, NotAllowed
from tickets.changes.history import record_history
from tickets.changes.page_tokens import PageToken, require_page_token, require_read
from tickets.changes.writes import StaleTicket
from tickets.history_codes import Kind, Rule
from tickets.labels import status_label
from tickets.models import Agent, Ticket
from tickets.statuses import TERMINAL, WAITING_FOR_COMPANY, By

MOST_AT_ONCE = 200


class AssignmentRefused(Exception):
    """Refusal of an assignment; the message says why."""


class Reassigned(NamedTuple):
    """Number of reassigned tickets, and the refusals of the others."""

    assigned: int
    refused: dict[int, str]

    def __str__(self) -> str:
        text = ngettext(
            "%(count)d ticket assigned.", "%(count)d tickets assigned.", self.assigned
        ) % {"count": self.assigned}
        if not self.refused:
            return text
        refused = ngettext(
            "%(count)d ticket was not assigned.",
            "%(count)d tickets were not assigned.",
            len(self.refused),
        ) % {"count": len(self.refused)}
        return f"{text} {refused}" if self.assigned else refused


def require_assigner(user: User) -> Actor:
    """Return the user as an actor who may assign tickets. Raises NotAllowed."""
    if not user.is_active or not user.has_perm("tickets.assign_ticket"):
        text = gettext("%(name)s is not allowed to assign tickets.")
        raise NotAllowed(text % {"name": user.get_username()})
    return Actor(By.LEAD, user.get_username())


@transaction.atomic
def reassign(
    ticket_id: int,
    to: Agent | None,
    *,
    user: User,
    reason: str = "",
    seen: PageToken | None = None,
    only_from: Agent | None = None,
) -> Ticket:
    """Assign an open ticket to another agent; None assigns it to any but its former agent.

    `seen` is the state that the lead's page had shown; a form that is sent twice assigns once.
    A lead may exceed an agent's capacity: history has the load. With `only_from`, a ticket that
    has left that agent is refused. Raises Ticket.DoesNotExist, NotAllowed, StaleTicket and
    AssignmentRefused.
    """
    actor = require_assigner(user)
    ticket = Ticket.objects.hold(ticket_id)
    former = ticket.agent
    require_read(ticket, seen, user)
    if seen and ticket.history.filter(pk__gt=seen.entry, kind=Kind.REASSIGNED).exists():
        raise StaleTicket(assignment_changed_text(former))
    check_assignable(ticket, to, only_from)
    facts: dict[str, object] = {
        "agent": [former and str(former), to and str(to)],
        "rule": (Rule.LEAD_CHOICE if to else Rule.LEAST_BUSY).value,
    }
    ticket.agent = None
    if to:
        facts["loads"] = loads_for_history([lock_and_assign(ticket, to)])
    ticket.version += 1
    ticket.save(update_fields=["agent", "version"])
    record_history(ticket, actor, Kind.REASSIGNED, reason=reason.strip(), data=facts)
    if to is None and ticket.status not in WAITING_FOR_COMPANY:
        automatic.assign(ticket, excluding=former.pk if former else None)
    return ticket


def check_assignable(ticket: Ticket, to: Agent | None, only_from: Agent | None) -> None:
    """Raise AssignmentRefused if the ticket cannot be assigned."""
    if ticket.status in TERMINAL:
        raise AssignmentRefused(decided_text(ticket))
    if only_from and ticket.agent_id != only_from.pk:
        raise AssignmentRefused(assignment_changed_text(ticket.agent))
    if to and ticket.agent_id == to.pk:
        raise AssignmentRefused(assigned_text(to))


def decided_text(ticket: Ticket) -> str:
    return gettext("The ticket is %(status)s.") % {"status": status_label(ticket.status)}


def assigned_text(agent: Agent) -> str:
    return gettext("The ticket is already assigned to %(agent)s.") % {"agent": agent}


def assignment_changed_text(agent: Agent | None) -> str:
    """Return a message with the ticket's present agent."""
    if agent is None:
        return gettext("The ticket has changed: it is now unassigned.")
    return gettext("The ticket has changed: it is now assigned to %(agent)s.") % {"agent": agent}


def lock_and_assign(ticket: Ticket, to: Agent) -> AgentLoad:
    """Assign a ticket to an agent; returns the load before. Raises AssignmentRefused."""
    # Locked like automatic assignment: nobody else may count loads between this and the commit.
    locked = Agent.objects.filter(pk=to.pk, user__is_active=True)
    if not locked.select_for_update(of=("self",), no_key=True).exists():
        raise AssignmentRefused(gettext("%(agent)s is no longer active.") % {"agent": to})
    before = AgentLoad(*automatic.agent_load_fields(Agent.objects.filter(pk=to.pk)).get())
    automatic.assign_to(ticket, before)
    return before


def reassign_all(
    picked: Iterable[tuple[int, PageToken | None]],
    to: Agent | None,
    *,
    user: User,
    reason: str = "",
) -> Reassigned:
    """Reassign tickets, each in a transaction; `picked` has their ids and the state shown.

    A ticket without a shown state is refused. Raises NotAllowed.
    """
    require_assigner(user)

    def reassign_one(one: tuple[int, PageToken | None]) -> None:
        try:
            reassign(one[0], to, user=user, reason=reason, seen=require_page_token(one[1]))
        except Ticket.DoesNotExist as error:
            raise AssignmentRefused(gettext("Ticket not found.")) from error

    number, refused = try_each(picked, reassign_one, refusals=(StaleTicket, AssignmentRefused))
    return Reassigned(number, {ticket_id: why for (ticket_id, _), why in refused.items()})


class HandedOver(NamedTuple):
    """Number of tickets that an agent still has, and the refusals among them."""

    remaining: int
    refused: dict[int, str]


def reassign_all_of(leaver: Agent, to: Agent | None, *, user: User, reason: str = "") -> HandedOver:
    """Reassign the open tickets of an agent, oldest first, each in a transaction.

    At most MOST_AT_ONCE per call. Raises NotAllowed and AssignmentRefused.
    """
    require_assigner(user)
    tickets = Ticket.objects.open().filter(agent=leaver)

    def reassign_one(ticket_id: int) -> None:
        try:
            reassign(ticket_id, to, user=user, reason=reason, only_from=leaver)
        except AssignmentRefused:
            # Ignore tickets decided or reassigned meanwhile; an inactive recipient stops the rest.
            if tickets.filter(pk=ticket_id).exists():
                raise

    ids = list(tickets.order_by("pk").values_list("pk", flat=True)[:MOST_AT_ONCE])
    outcome = try_each(ids, reassign_one, stops=(AssignmentRefused,))
    return HandedOver(tickets.count(), outcome.refused)
