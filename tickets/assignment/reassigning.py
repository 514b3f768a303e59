"""A lead gives tickets to somebody, or back to everybody, and history says why."""

from collections.abc import Iterable
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext, ngettext

from core.jobs.failing_rows import do_each
from tickets.assignment import automatic
from tickets.assignment.picking import AgentLoad, loads_for_history
from tickets.changes.actors import Actor, NotAllowed
from tickets.changes.history import record_history
from tickets.changes.seen import Seen, require_read, require_seen
from tickets.changes.writes import StaleTicket
from tickets.history_codes import Kind, Rule
from tickets.labels import status_label
from tickets.models import Agent, Ticket
from tickets.statuses import TERMINAL, WAITING_FOR_COMPANY, By

MOST_AT_ONCE = 200


class NotGiven(Exception):
    """The ticket stays where it is; the message says why."""


class Reassigned(NamedTuple):
    """How many were given away, and what became of the others."""

    given: int
    refused: dict[int, str]

    def __str__(self) -> str:
        said = ngettext("%(count)d ticket assigned.", "%(count)d tickets assigned.", self.given) % {
            "count": self.given
        }
        if not self.refused:
            return said
        left = ngettext(
            "%(count)d ticket was not assigned.",
            "%(count)d tickets were not assigned.",
            len(self.refused),
        ) % {"count": len(self.refused)}
        return f"{said} {left}" if self.given else left


def require_assigner(user: User) -> Actor:
    """The user as history will name them. Raises NotAllowed."""
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
    seen: Seen | None = None,
    only_from: Agent | None = None,
) -> Ticket:
    """Assign an open ticket to another agent; None assigns it automatically, not to who had it.

    `seen` is what the lead's page had shown; a form that is sent twice assigns once.
    A lead may go beyond an agent's capacity: history has the load. With `only_from`, a ticket
    that has left that agent stays where it is. Raises Ticket.DoesNotExist, NotAllowed,
    StaleTicket and NotGiven.
    """
    actor = require_assigner(user)
    ticket = Ticket.objects.hold(ticket_id)
    had = ticket.agent
    require_read(ticket, seen, user)
    if seen and ticket.history.filter(pk__gt=seen.entry, kind=Kind.REASSIGNED).exists():
        raise StaleTicket(changed_hands(had))
    check_assignable(ticket, to, only_from)
    facts: dict[str, object] = {
        "agent": [had and str(had), to and str(to)],
        "rule": (Rule.LEAD_CHOICE if to else Rule.LEAST_BUSY).value,
    }
    ticket.agent = None
    if to:
        facts["loads"] = loads_for_history([lock_and_assign(ticket, to)])
    ticket.version += 1
    ticket.save(update_fields=["agent", "version"])
    record_history(ticket, actor, Kind.REASSIGNED, reason=reason.strip(), data=facts)
    if to is None and ticket.status not in WAITING_FOR_COMPANY:
        automatic.assign(ticket, excluding=had.pk if had else None)
    return ticket


def check_assignable(ticket: Ticket, to: Agent | None, only_from: Agent | None) -> None:
    """Raises NotGiven."""
    if ticket.status in TERMINAL:
        raise NotGiven(decided_text(ticket))
    if only_from and ticket.agent_id != only_from.pk:
        raise NotGiven(changed_hands(ticket.agent))
    if to and ticket.agent_id == to.pk:
        raise NotGiven(assigned_text(to))


def decided_text(ticket: Ticket) -> str:
    return gettext("The ticket is %(status)s.") % {"status": status_label(ticket.status)}


def assigned_text(agent: Agent) -> str:
    return gettext("The ticket is already assigned to %(agent)s.") % {"agent": agent}


def changed_hands(agent: Agent | None) -> str:
    """Who has the ticket now."""
    if agent is None:
        return gettext("The ticket has changed: it is now unassigned.")
    return gettext("The ticket has changed: it is now assigned to %(agent)s.") % {"agent": agent}


def lock_and_assign(ticket: Ticket, to: Agent) -> AgentLoad:
    """Put the ticket into these hands; returns the load before. Raises NotGiven."""
    # As assignment does: nobody else's count may fall between this one and the commit.
    locked = Agent.objects.filter(pk=to.pk, user__is_active=True)
    if not locked.select_for_update(of=("self",), no_key=True).exists():
        raise NotGiven(gettext("%(agent)s is no longer active.") % {"agent": to})
    before = AgentLoad(*automatic.agent_load_fields(Agent.objects.filter(pk=to.pk)).get())
    automatic.assign_to(ticket, before)
    return before


def reassign_all(
    picked: Iterable[tuple[int, Seen | None]], to: Agent | None, *, user: User, reason: str = ""
) -> Reassigned:
    """Give away tickets by id and what was seen of each, each in a transaction.

    Without that a ticket is refused. Raises NotAllowed.
    """
    require_assigner(user)

    def give(one: tuple[int, Seen | None]) -> None:
        try:
            reassign(one[0], to, user=user, reason=reason, seen=require_seen(one[1]))
        except Ticket.DoesNotExist as error:
            raise NotGiven(gettext("Ticket not found.")) from error

    given, refused = do_each(picked, give, refusals=(StaleTicket, NotGiven))
    return Reassigned(given, {ticket_id: why for (ticket_id, _), why in refused.items()})


class HandedOver(NamedTuple):
    """How many tickets an agent still has, and why those are among them that were refused."""

    left: int
    refused: dict[int, str]


def reassign_all_of(leaver: Agent, to: Agent | None, *, user: User, reason: str = "") -> HandedOver:
    """Give away the open tickets of an agent, oldest first, each in a transaction.

    At most MOST_AT_ONCE at a time. Raises NotAllowed and NotGiven.
    """
    require_assigner(user)
    mine = Ticket.objects.open().filter(agent=leaver)

    def give(ticket_id: int) -> None:
        try:
            reassign(ticket_id, to, user=user, reason=reason, only_from=leaver)
        except NotGiven:
            # Decided or given away meanwhile; a recipient who has gone stops at the first.
            if mine.filter(pk=ticket_id).exists():
                raise

    ids = list(mine.order_by("pk").values_list("pk", flat=True)[:MOST_AT_ONCE])
    outcome = do_each(ids, give, stops=(NotGiven,))
    return HandedOver(mine.count(), outcome.refused)
