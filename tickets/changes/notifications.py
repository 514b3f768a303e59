"""Notifications of agents about tickets: assignments, answers, near due dates.

`history` notifies of assignments, `news` of answers and decisions. Agents are not notified of their
own actions, and inactive agents not at all.
"""

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.utils import timezone

from core.data import statements
from core.jobs.failing_rows import FailingRows
from tickets.changes.actors import SYSTEM, Actor
from tickets.models import Notification, Ticket
from tickets.sla.clocks import SOON
from tickets.statuses import By

MOST_AT_ONCE = 500

# The given agents get `kind`, other watchers get the kind `watched`.
# Changes that watchers are notified of also wake a snoozed ticket.
NOTIFY = """
WITH woken AS (
  DELETE FROM tickets_snooze WHERE ticket_id = %(ticket)s::bigint AND %(watchers)s::boolean
)
INSERT INTO tickets_notification AS known (recipient_id, ticket_id, kind, "by", actor, created_at)
SELECT person.id, %(ticket)s::bigint,
  CASE WHEN agent.id = ANY(%(agents)s::bigint[]) THEN %(kind)s ELSE 'watched' END,
  %(by)s, %(actor)s, %(now)s::timestamptz
FROM (
  SELECT unnest(%(agents)s::bigint[]) AS id
  UNION SELECT agent_id FROM tickets_watch
  WHERE ticket_id = %(ticket)s::bigint AND %(watchers)s::boolean
) told
JOIN tickets_agent agent ON agent.id = told.id
JOIN auth_user person ON person.id = agent.user_id
WHERE person.is_active AND (%(own)s::text IS NULL OR person.username <> %(own)s::text)
ORDER BY person.id
ON CONFLICT (recipient_id, ticket_id, kind) WHERE read_at IS NULL DO UPDATE
SET "by" = excluded."by", actor = excluded.actor, created_at = excluded.created_at
"""

# Skips notifications that are being renewed, as they have something new. Waiting for their locks
# could also cause a deadlock.
READ = """
UPDATE tickets_notification SET read_at = %(now)s::timestamptz WHERE id IN (
  SELECT id FROM tickets_notification
  WHERE recipient_id = %(user)s::bigint AND read_at IS NULL
    AND (%(ticket)s::bigint IS NULL OR ticket_id = %(ticket)s::bigint)
  FOR NO KEY UPDATE SKIP LOCKED
) RETURNING id
"""


def notify(
    ticket: Ticket,
    recipients: Iterable[int],
    kind: Notification.Kind,
    *,
    by: Actor,
    watchers: bool = False,
) -> None:
    """Notify agents, by their ids, about a ticket, in the transaction of the change.

    With `watchers`, the other watchers of the ticket are notified too. An unread notification of
    the same kind is renewed instead of repeated. Takes one statement.
    """
    person = by.by in (By.AGENT, By.LEAD)
    facts = {
        "ticket": ticket.pk,
        "agents": sorted(set(recipients)),
        "kind": kind.value,
        "by": by.by.value,
        "actor": by.name,
        # Null unless an agent acts, as a company's token may have the same name as a user.
        "own": by.name if person else None,
        "watchers": watchers,
        # The present time, as the transaction may have waited for the ticket.
        "now": timezone.now(),
    }
    statements.fetch_rows(NOTIFY, facts)


def notify_of_assignment(ticket: Ticket, actor: Actor) -> None:
    """Notify the ticket's agent, if any, unless they took it themselves."""
    if ticket.agent_id is not None:
        notify(ticket, [ticket.agent_id], Notification.Kind.ASSIGNED, by=actor)


def notify_followers(ticket: Ticket, actor: Actor) -> None:
    """Notify a ticket's watchers of an answer or a decision, and its agent of an answer."""
    agents = [ticket.agent_id] if ticket.agent_id and actor.by == By.COMPANY else []
    notify(ticket, agents, Notification.Kind.ANSWERED, by=actor, watchers=True)


def notify_of_late_tickets() -> int:
    """Notify agents once of their tickets that are due soon; returns the number of tickets."""
    now = timezone.now()
    notified = Notification.objects.filter(
        ticket=OuterRef("pk"),
        recipient=OuterRef("agent__user"),
        kind=Notification.Kind.LATE,
        created_at__gte=OuterRef("due_at") - SOON,
    )
    soon = Ticket.objects.open().filter(
        ~Exists(notified), due_at__gt=now, due_at__lte=now + SOON, agent__user__is_active=True
    )
    rows = FailingRows("notify_of_late_tickets")
    tickets = {one.pk: one for one in rows.first(soon.order_by("due_at", "pk"), MOST_AT_ONCE)}

    def notify_agent(ticket_ids: Sequence[int]) -> None:
        for ticket in map(tickets.__getitem__, ticket_ids):
            agents = [ticket.agent_id] if ticket.agent_id else []
            notify(ticket, agents, Notification.Kind.LATE, by=SYSTEM)

    return sum(rows.do("ticket", [ticket_id], notify_agent) for ticket_id in tickets)


def mark_read(user: User, *, ticket_id: int | None = None) -> int:
    """Mark a user's notifications of a ticket, or all, as read; returns their number."""
    facts = {"user": user.pk, "ticket": ticket_id, "now": timezone.now()}
    return len(statements.fetch_rows(READ, facts))
