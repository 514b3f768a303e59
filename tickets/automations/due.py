"""Which tickets an automation would touch now. The page, the command and the job ask the same.

A ticket is silent since the last that anybody said or did on it, be it a note. It was answered
where its company did anything since an agent last wrote to it: then it is our turn, and no
automation's.
"""

from datetime import datetime
from typing import Any

from django.db.models import Case, Count, F, OuterRef, Q, Subquery, When
from django.db.models.functions import Coalesce

from tickets.automations.waits import days_ago, in_hours
from tickets.history_codes import Kind
from tickets.models import Automation, Comment, HistoryEntry, Ticket
from tickets.models.automations import PREFIX
from tickets.models.tickets import TicketQuerySet
from tickets.statuses import By, Status

# Of more the page says "more than".
MOST_COUNTED = 1_000


def candidates(one: Automation, now: datetime) -> TicketQuerySet:
    """A short way to all that may be due, in the order of an index; `order_of` says which."""
    if one.kind == Automation.Kind.ESCALATE:
        until = in_hours(one.type_id, now, one.hours_before)
        soon = Ticket.objects.running().filter(due_at__gt=now, due_at__lte=until)
        return soon.filter(
            Q(escalated_due_at=None) | ~Q(escalated_due_at=F("due_at")), type=one.type_id
        )
    waits = [one.wait_days]
    if one.kind == Automation.Kind.CLOSE:
        waits.append(one.last_days)
    since = days_ago(one.type_id, now, min(waits))
    return Ticket.objects.filter(status=Status.INCOMPLETE, type=one.type_id, updated_at__lte=since)


def order_of(one: Automation) -> str:
    return "due_at" if one.kind == Automation.Kind.ESCALATE else "updated_at"


def due(one: Automation, now: datetime) -> TicketQuerySet:
    """What the automation would touch now, whether it is on or not.

    Tickets that wait for their company have `reminded`, how often that was reminded, and `last`,
    whether it was for the last time.
    """
    if one.kind == Automation.Kind.ESCALATE:
        return candidates(one, now)
    tickets = with_silence(candidates(one, now))
    first = Q(last=False) & silent_for(one, now, one.wait_days)
    if one.kind == Automation.Kind.REMIND:
        return tickets.filter(first & Q(reminded__lt=one.times))
    reminders = Automation.objects.filter(
        kind=Automation.Kind.REMIND, type=one.type_id, active=True
    ).first()
    if reminders is not None:
        # Its reminders come first, and the last one after them.
        first &= Q(reminded__gte=reminders.times)
    return tickets.filter(first | (Q(last=True) & silent_for(one, now, one.last_days)))


def silent_for(one: Automation, now: datetime, days: int) -> Q:
    since = days_ago(one.type_id, now, days)
    return Q(updated_at__lte=since) & (Q(noted_at=None) | Q(noted_at__lte=since))


def with_silence(tickets: TicketQuerySet) -> TicketQuerySet:
    """Those whose company has not answered, with what was said to it by itself.

    An inactive company cannot answer (decision N27). What no agent ever wrote to is left alone.
    Each fact is asked of one ticket, by an index: as a join PostgreSQL might read all of history.
    """
    mine = {"ticket": OuterRef("pk")}
    comments = Comment.objects.filter(**mine).order_by("-pk")
    entries = HistoryEntry.objects.filter(**mine).order_by("-pk")
    asked = comments.filter(by=By.AGENT, public=True).exclude(actor__startswith=PREFIX)
    reminders = entries.filter(kind=Kind.REMINDED)
    since = reminders.filter(created_at__gt=OuterRef("asked_at")).order_by()
    number: Any = since.values("ticket").annotate(n=Count("*")).values("n")
    return (
        tickets.filter(company__active=True)
        .annotate(
            asked_id=Subquery(asked.values("pk")[:1]),
            asked_at=Subquery(asked.values("created_at")[:1]),
            noted_at=Subquery(comments.filter(public=False).values("created_at")[:1]),
            answered_id=Subquery(comments.filter(by=By.COMPANY).values("pk")[:1]),
            acted_at=Subquery(entries.filter(by=By.COMPANY).values("created_at")[:1]),
            last_at=Subquery(reminders.filter(data__last=True).values("created_at")[:1]),
        )
        .filter(
            Q(answered_id=None) | Q(answered_id__lt=F("asked_id")),
            Q(acted_at=None) | Q(acted_at__lte=F("asked_at")),
            asked_id__isnull=False,
        )
        .annotate(
            reminded=Coalesce(Subquery(number), 0),
            last=Case(When(last_at__gt=F("asked_at"), then=True), default=False),
        )
    )


def count_due(one: Automation, now: datetime) -> int:
    """At most MOST_COUNTED and one."""
    return due(one, now).order_by()[: MOST_COUNTED + 1].count()
