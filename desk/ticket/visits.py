"""Who looks at a ticket now, and what each of them has seen of it."""

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

# A visit goes on while its page gives signs of life; the next one has seen all that was there
# when the last one ended.
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
    """Say that somebody is at a ticket; returns up to when they have seen it.

    None where there is no such ticket.
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
    """Who else is there, by name; writers first."""
    there = Visit.objects.filter(ticket=ticket_id, alive_at__gte=timezone.now() - GONE_AFTER)
    found = there.exclude(user=user).order_by("-writing", ReadingOrder("user__username"))
    return [Present(*row) for row in found.values_list("user__username", "writing")[:10]]


def is_first_submission(ticket_id: int, user: User, form: UUID) -> bool:
    """Remember that a form was taken; False if it is the one that was taken last.

    Of two that come at once the second waits here until the first has committed.
    """
    record_visit(ticket_id, user)
    mine = Visit.objects.filter(ticket=ticket_id, user=user)
    return bool(mine.exclude(last_form=form).update(last_form=form))
