"""Tickets that are due for an automation, as shown on its page and by its command and job.

A ticket is silent since anybody last wrote or did something on it, even a note. It is answered if
its company has done anything since an agent last wrote to it: then an agent has to act, and
automations leave it alone.
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
from tickets.statuses import WAITING_FOR_COMPANY, By

# The page shows "more than" for larger numbers.
MOST_COUNTED = 1_000


def candidates(one: Automation, now: datetime) -> TicketQuerySet:
    """Return a superset of the due tickets that an index selects in the order of `order_of`."""
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
    return Ticket.objects.filter(
        status__in=WAITING_FOR_COMPANY, type=one.type_id, updated_at__lte=since
    )


def order_of(one: Automation) -> str:
    return "due_at" if one.kind == Automation.Kind.ESCALATE else "updated_at"


def due(one: Automation, now: datetime) -> TicketQuerySet:
    """Return the tickets that the automation would touch now, whether it is on or not.

    Tickets that wait for their company are annotated with `reminded`, the number of reminders, and
    `last`, whether the last reminder was sent.
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
        # The last reminder follows all others.
        first &= Q(reminded__gte=reminders.times)
    return tickets.filter(first | (Q(last=True) & silent_for(one, now, one.last_days)))


def silent_for(one: Automation, now: datetime, days: int) -> Q:
    since = days_ago(one.type_id, now, days)
    return Q(updated_at__lte=since) & (Q(noted_at=None) | Q(noted_at__lte=since))


def with_silence(tickets: TicketQuerySet) -> TicketQuerySet:
    """Filter tickets whose company has not answered, and annotate them with their reminders.

    Excludes inactive companies, which cannot answer (N27), and tickets that no agent has written
    to. Subqueries read each ticket by index; for a join PostgreSQL might scan all of history.
    """
    same_ticket = {"ticket": OuterRef("pk")}
    comments = Comment.objects.filter(**same_ticket).order_by("-pk")
    entries = HistoryEntry.objects.filter(**same_ticket).order_by("-pk")
    questions = comments.filter(by=By.AGENT, public=True).exclude(actor__startswith=PREFIX)
    reminders = entries.filter(kind=Kind.REMINDED)
    since = reminders.filter(created_at__gt=OuterRef("asked_at")).order_by()
    number: Any = since.values("ticket").annotate(n=Count("*")).values("n")
    return (
        tickets.filter(company__active=True)
        .annotate(
            asked_id=Subquery(questions.values("pk")[:1]),
            asked_at=Subquery(questions.values("created_at")[:1]),
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
    """Count the due tickets, up to MOST_COUNTED + 1."""
    return due(one, now).order_by()[: MOST_COUNTED + 1].count()
