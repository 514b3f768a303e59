"""Snoozed tickets, and tickets that wait for others, which return by themselves.

Agents snooze tickets, whose clocks go on (decision page desk-a-snoozed-ticket-keeps-its-clocks).
Other tickets are in a status that waits for others, such as a carrier (decision T18).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone
from django.utils.translation import gettext

from core.jobs.failing_rows import FailingRows
from tickets.changes.actors import SYSTEM, actor_for
from tickets.changes.history import record_history
from tickets.changes.news import ticket_service
from tickets.changes.notifications import MOST_AT_ONCE, notify
from tickets.changes.page_tokens import PageToken, require_read
from tickets.changes.writes import change_status
from tickets.history_codes import Kind
from tickets.models import Notification, Snooze, Ticket
from tickets.models.tickets import TicketQuerySet
from tickets.models.together import WAKE_BEFORE
from tickets.statuses import TERMINAL, WAITING_FOR_OTHERS, Status

LONGEST = timedelta(days=90)


class NotSnoozed(Exception):
    """Refusal to snooze a ticket; the message says why."""


def asleep_of(agent_id: int | None) -> Q:
    """Return the condition for tickets that an agent has snoozed."""
    own = Snooze.objects.asleep(timezone.now()).filter(agent=agent_id or 0)
    return Q(pk__in=own.values("ticket"))


def asleep_until() -> Subquery:
    """Return a subquery for the time until which a ticket is snoozed; null if it is awake."""
    snoozes = Snooze.objects.asleep(timezone.now()).filter(ticket=OuterRef("pk"))
    return Subquery(snoozes.values("until")[:1])


@transaction.atomic
def snooze(
    ticket_id: int, until: datetime | None, *, user: User, seen: PageToken | None = None
) -> datetime:
    """Snooze an open ticket for its agent, with None as long as possible; returns until when.

    A near deadline shortens it. Raises Ticket.DoesNotExist, NotAllowed, StaleTicket and
    NotSnoozed.
    """
    actor, now = actor_for(user), timezone.now()
    ticket = Ticket.objects.hold(ticket_id)
    require_read(ticket, seen, user)
    if ticket.agent is None or ticket.agent.user_id != user.pk or ticket.status in TERMINAL:
        raise NotSnoozed(gettext("Only the agent of an open ticket can snooze it."))
    deadlines = [(getattr(ticket, column), before) for column, before in WAKE_BEFORE.items()]
    latest = min([now + LONGEST, *(at - before for at, before in deadlines if at and at > now)])
    until = min(until or latest, latest)
    if latest <= now:
        raise NotSnoozed(gettext("A deadline of this ticket is near: it cannot be snoozed."))
    if until <= now:
        raise NotSnoozed(gettext("Choose a day to come."))
    facts = {"agent": ticket.agent, "until": until}
    Snooze.objects.update_or_create(ticket=ticket, defaults=facts)
    record_history(ticket, actor, Kind.SNOOZED, data={"until": until.isoformat()})
    return until


@transaction.atomic
def wake(ticket_id: int, *, user: User) -> None:
    """Wake a snoozed ticket (idempotent). Raises Ticket.DoesNotExist and NotAllowed."""
    actor = actor_for(user)
    ticket = Ticket.objects.hold(ticket_id)
    if Snooze.objects.filter(ticket=ticket).delete()[0]:
        record_history(ticket, actor, Kind.WOKEN)


def silent_tickets(now: datetime) -> TicketQuerySet:
    """Return tickets that wait for others, and whose silence exceeds the limit of their status."""
    waits = [
        Q(status=status, updated_at__lte=now - after)
        for status in WAITING_FOR_OTHERS
        if (after := status.row.returns_after) is not None
    ]
    return Ticket.objects.filter(reduce(or_, waits)) if waits else Ticket.objects.none()


def wake_due() -> int:
    """Wake due tickets and notify their agents; returns the number of tickets."""
    now = timezone.now()
    over = Snooze.objects.exclude(pk__in=Snooze.objects.asleep(now).values("pk"))
    rows = FailingRows("wake_snoozed")
    ids = [one.pk for one in rows.first(over.order_by("until", "pk"), MOST_AT_ONCE)]
    ids += [one.pk for one in rows.first(silent_tickets(now).order_by("pk"), MOST_AT_ONCE)]

    @ticket_service
    def wake_tickets(ticket_ids: Sequence[int]) -> None:
        # Check again after the lock: the agent may have snoozed or moved the ticket meanwhile.
        for ticket in map(Ticket.objects.hold, ticket_ids):
            silent = silent_tickets(now).filter(pk=ticket.pk).exists()
            snooze = over.filter(ticket=ticket).first()
            if snooze is not None:
                snooze.delete()
            if silent:
                change_status(ticket, Status.IN_REVIEW, SYSTEM)
            elif snooze and ticket.agent_id == snooze.agent_id and ticket.status not in TERMINAL:
                record_history(ticket, SYSTEM, Kind.WOKEN)
            else:
                continue
            if ticket.agent_id is not None:
                notify(ticket, [ticket.agent_id], Notification.Kind.WOKEN, by=SYSTEM)

    return sum(rows.do("ticket", [ticket_id], wake_tickets) for ticket_id in dict.fromkeys(ids))
