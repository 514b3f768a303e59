"""Links between tickets of one company, made by agents."""

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
    """Refusal to link two tickets; the message says why."""


@transaction.atomic
def relate(ticket_id: int, other_id: int, *, user: User) -> None:
    """Link two tickets of one company, and record it in both histories (idempotent).

    Raises NotAllowed, Ticket.DoesNotExist for the first ticket, and NotRelated.
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
    _, is_new = RelatedTickets.objects.get_or_create(first=first, second=second)
    if is_new:
        record_on_both(ticket, other, actor, Kind.RELATED)


@transaction.atomic
def unrelate(ticket_id: int, other_id: int, *, user: User) -> None:
    """Remove the link between two tickets (idempotent).

    Raises NotAllowed, Ticket.DoesNotExist for the first ticket, and NotRelated.
    """
    actor = actor_for(user)
    ticket, other = hold_both(ticket_id, other_id)
    first, second = sorted((ticket_id, other_id))
    deleted, _ = RelatedTickets.objects.filter(first=first, second=second).delete()
    if deleted:
        record_on_both(ticket, other, actor, Kind.UNRELATED)


def related_to(ticket_id: int) -> QuerySet[RelatedTickets]:
    return RelatedTickets.objects.filter(Q(first=ticket_id) | Q(second=ticket_id))


def hold_both(ticket_id: int, other_id: int) -> tuple[Ticket, Ticket]:
    """Lock both tickets in the order of their ids. Raises like `relate`."""
    if ticket_id == other_id:
        raise NotRelated(gettext("A ticket cannot be related to itself."))
    tickets: dict[int, Ticket] = {}
    for one in sorted((ticket_id, other_id)):
        try:
            tickets[one] = Ticket.objects.hold(one)
        except Ticket.DoesNotExist:
            if one == ticket_id:
                raise
    ticket, other = tickets[ticket_id], tickets.get(other_id)
    # Another company's ticket is treated as missing, so that its existence is not disclosed.
    if other is None or other.company_id != ticket.company_id:
        raise NotRelated(
            gettext("%(company)s has no ticket %(ticket)d.")
            % {"company": ticket.company.name, "ticket": other_id}
        )
    return ticket, other


def record_on_both(ticket: Ticket, other: Ticket, actor: Actor, kind: Kind) -> None:
    record_history(ticket, actor, kind, data={"ticket": other.pk})
    record_history(other, actor, kind, data={"ticket": ticket.pk})
