"""Who did what to a ticket: every entry of history is written here (decision T17)."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from core.data.compiled_queries import insert_row
from core.watch import request_ids
from tickets.changes import news
from tickets.changes.actors import Actor
from tickets.changes.notifications import GIVEN, notify_of_assignment
from tickets.history_codes import NEWS, PUBLIC, Kind
from tickets.models import HistoryEntry, Ticket
from tickets.statuses import Status


def record_history(
    ticket: Ticket,
    actor: Actor,
    kind: Kind,
    *,
    was: Status | None = None,
    reason: str = "",
    data: dict[str, Any] | None = None,
) -> HistoryEntry:
    """Write what happened, in the transaction in which it happened; note the news, notify agents.

    `data` has the facts that the kind asks for; `reason` is what a person wrote, and nothing
    else. `was` is for moves: everything else happens in the ticket's present status. Companies
    are shown when a ticket was opened and moved.
    """
    public = kind in PUBLIC
    if kind in NEWS:
        news.note_news(ticket, actor, NEWS[kind], was=was)
    entry = HistoryEntry(
        ticket=ticket,
        by=actor.by,
        actor=actor.name,
        was=was if public else ticket.status,
        now=ticket.status,
        kind=kind,
        reason=reason,
        data=data or {},
        public=public,
        request_id=request_ids.current(),
        created_at=timezone.now(),
    )
    insert_row(entry)
    if kind in GIVEN:
        notify_of_assignment(ticket, actor)
    return entry


def record_request(ticket: Ticket, actor: Actor, requested: Sequence[str]) -> None:
    """Write that documents were requested while the status stayed as it is."""
    data = {"requested": list(requested)}
    record_history(ticket, actor, Kind.DOCUMENTS_REQUESTED, data=data)
