"""Visits: the users who look at a ticket now, and up to when each has seen it."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext

from core.data.reading_order import ReadingOrder
from core.data.statements import read_rows
from desk.models import Visit

GONE_AFTER = timedelta(seconds=45)

# A visit lasts while its page gives signs of life. The next one counts as seen whatever was
# there when the last one ended.
UPSERT = """
INSERT INTO desk_visit (ticket_id, user_id, seen_at, alive_at, writing)
SELECT id, %(user)s, %(now)s, %(now)s, %(writing)s FROM tickets_ticket WHERE id = %(ticket)s
ON CONFLICT (ticket_id, user_id) DO UPDATE SET
  seen_at = CASE WHEN desk_visit.alive_at < %(gone)s THEN desk_visit.alive_at
                 ELSE desk_visit.seen_at END,
  alive_at = %(now)s, writing = %(writing)s
RETURNING seen_at
"""


class Present(NamedTuple):
    name: str
    writing: bool

    def __str__(self) -> str:
        if self.writing:
            return gettext("%(name)s is replying") % {"name": self.name}
        return gettext("%(name)s is looking") % {"name": self.name}


def record_visit(ticket_id: int, user: User, *, writing: bool = False) -> datetime | None:
    """Record that a user looks at a ticket; return up to when they had seen it.

    Returns None if there is no such ticket.
    """
    now = timezone.now()
    values = {
        "ticket": ticket_id,
        "user": user.pk,
        "now": now,
        "gone": now - GONE_AFTER,
        "writing": writing,
    }
    return next((seen_at for (seen_at,) in read_rows(UPSERT, values)), None)


def others(ticket_id: int, user: User) -> list[Present]:
    """Return up to ten other users who look at the ticket: writers first, then by name."""
    there = Visit.objects.filter(ticket=ticket_id, alive_at__gte=timezone.now() - GONE_AFTER)
    visits = there.exclude(user=user).order_by("-writing", ReadingOrder("user__username"))
    return [Present(*row) for row in visits.values_list("user__username", "writing")[:10]]


def is_first_submission(ticket_id: int, user: User, form: UUID) -> bool:
    """Record that a form was accepted; return False if it is the one accepted last.

    The row stays locked until the commit, so a simultaneous repeat waits here.
    """
    record_visit(ticket_id, user)
    mine = Visit.objects.filter(ticket=ticket_id, user=user)
    return bool(mine.exclude(last_form=form).update(last_form=form))
