"""Tickets of one company that an agent links by hand."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from tickets.changes.actors import Actor, actor_for
from tickets.changes.history import record_history
from tickets.history_codes import Kind
from tickets.models import RelatedTickets, Ticket

MOST_RELATED = 50


class NotRelated(Exception):
    """The two tickets cannot be linked; the message says why."""


@transaction.atomic
def relate(ticket_id: int, other_id: int, *, user: User) -> None:
    """Link two tickets of one company; both show it, and both histories. Again changes nothing.

    Raises NotAllowed, Ticket.DoesNotExist where the first is none, and NotRelated.
    """
    actor = actor_for(user)
    ticket, other = hold_both(ticket_id, other_id)
    for one in (ticket, other):
        if related_to(one.pk).count() >= MOST_RELATED:
            raise NotRelated(
                gettext("Ticket %(ticket)d already has %(most)d related tickets.")
                % {"ticket": one.pk, "most": MOST_RELATED}
            )
    first, second = sorted((ticket, other), key=lambda one: one.pk)
    _, made = RelatedTickets.objects.get_or_create(first=first, second=second)
    if made:
        record_on_both(ticket, other, actor, Kind.RELATED)


@transaction.atomic
def unrelate(ticket_id: int, other_id: int, *, user: User) -> None:
    """Take the link between two tickets back. Again changes nothing.

    Raises NotAllowed, Ticket.DoesNotExist where the first is none, and NotRelated.
    """
    actor = actor_for(user)
    ticket, other = hold_both(ticket_id, other_id)
    first, second = sorted((ticket_id, other_id))
    gone, _ = RelatedTickets.objects.filter(first=first, second=second).delete()
    if gone:
        record_on_both(ticket, other, actor, Kind.UNRELATED)


def related_to(ticket_id: int) -> QuerySet[RelatedTickets]:
    return RelatedTickets.objects.filter(Q(first=ticket_id) | Q(second=ticket_id))


def hold_both(ticket_id: int, other_id: int) -> tuple[Ticket, Ticket]:
    """Both tickets, locked in the order of their ids."""
    if ticket_id == other_id:
        raise NotRelated(gettext("A ticket cannot be related to itself."))
    held: dict[int, Ticket] = {}
    for one in sorted((ticket_id, other_id)):
        try:
            held[one] = Ticket.objects.hold(one)
        except Ticket.DoesNotExist:
            if one == ticket_id:
                raise
    ticket, other = held[ticket_id], held.get(other_id)
    # Another company's is as good as none: nothing is told of it.
    if other is None or other.company_id != ticket.company_id:
        raise NotRelated(
            gettext("%(company)s has no ticket %(ticket)d.")
            % {"company": ticket.company.name, "ticket": other_id}
        )
    return ticket, other


def record_on_both(ticket: Ticket, other: Ticket, actor: Actor, kind: Kind) -> None:
    record_history(ticket, actor, kind, data={"ticket": other.pk})
    record_history(other, actor, kind, data={"ticket": ticket.pk})
