"""What agents are told of tickets: what became theirs, who answered, what is about to be late.

Who writes the history notifies of assignments, who tells a ticket's news of answers and decisions.
Nobody is notified of what they did themselves, nor who is no longer active.
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

# The agents who are named get `kind`, the other watchers are told that they watch.
# What their watchers hear of brings a snoozed ticket back.
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

# What is being renewed has something new in it. To wait for one after the other could also end in
# a deadlock.
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
    """Notify agents, by their ids, of a ticket; in the transaction of what they are told of.

    With `watchers`, the others who watch the ticket are told too. One statement. What an agent
    has not read yet is renewed and not repeated.
    """
    person = by.by in (By.AGENT, By.LEAD)
    facts = {
        "ticket": ticket.pk,
        "agents": sorted(set(recipients)),
        "kind": kind.value,
        "by": by.by.value,
        "actor": by.name,
        # A company's token may be called what a user is called.
        "own": by.name if person else None,
        "watchers": watchers,
        # Not the transaction's beginning: it may have waited for the ticket.
        "now": timezone.now(),
    }
    statements.fetch_rows(NOTIFY, facts)


def notify_of_assignment(ticket: Ticket, actor: Actor) -> None:
    """Tell who has the ticket now, if anybody has, unless they took it themselves."""
    if ticket.agent_id is not None:
        notify(ticket, [ticket.agent_id], Notification.Kind.ASSIGNED, by=actor)


def notify_followers(ticket: Ticket, actor: Actor) -> None:
    """Tell those who watch a ticket of an answer or a decision; of an answer, its agent too."""
    mine = [ticket.agent_id] if ticket.agent_id and actor.by == By.COMPANY else []
    notify(ticket, mine, Notification.Kind.ANSWERED, by=actor, watchers=True)


def notify_of_late_tickets() -> int:
    """Tell agents once which of their tickets are due soon; returns of how many."""
    now = timezone.now()
    told = Notification.objects.filter(
        ticket=OuterRef("pk"),
        recipient=OuterRef("agent__user"),
        kind=Notification.Kind.LATE,
        created_at__gte=OuterRef("due_at") - SOON,
    )
    soon = Ticket.objects.open().filter(
        ~Exists(told), due_at__gt=now, due_at__lte=now + SOON, agent__user__is_active=True
    )
    rows = FailingRows("notify_of_late_tickets")
    found = {one.pk: one for one in rows.first(soon.order_by("due_at", "pk"), MOST_AT_ONCE)}

    def tell(ticket_ids: Sequence[int]) -> None:
        for ticket in map(found.__getitem__, ticket_ids):
            agents = [ticket.agent_id] if ticket.agent_id else []
            notify(ticket, agents, Notification.Kind.LATE, by=SYSTEM)

    return sum(rows.do("ticket", [ticket_id], tell) for ticket_id in found)


def mark_read(user: User, *, ticket_id: int | None = None) -> int:
    """Note that somebody has read what they were told of a ticket, or all; returns how many."""
    facts = {"user": user.pk, "ticket": ticket_id, "now": timezone.now()}
    return len(statements.fetch_rows(READ, facts))
