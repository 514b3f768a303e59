"""Who did what to a ticket: every line of history is written here (decision T17)."""

from typing import Any

from django.utils import timezone

from tickets.changes.actors import Actor
from tickets.models import HistoryEntry, Ticket
from tickets.statuses import Status


def remember(
    ticket: Ticket,
    actor: Actor,
    *,
    was: Status | None = None,
    reason: str = "",
    changes: dict[str, Any] | None = None,
    public: bool = False,
) -> HistoryEntry:
    """Write what happened, in the transaction in which it happened.

    The company is shown moves (`public`); without one, `was` is the ticket's present status.
    """
    return HistoryEntry.objects.create(
        ticket=ticket,
        by=actor.by,
        actor=actor.name,
        was=was if public else ticket.status,
        now=ticket.status,
        reason=reason,
        changes=changes or {},
        public=public,
        created_at=timezone.now(),
    )
