"""Who did what to a ticket: every entry of history is written here (decision T17)."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from core.data.compiled_queries import insert_row
from core.watch import request_ids
from tickets.changes import news
from tickets.changes.actors import Actor
from tickets.changes.notifications import notify_of_assignment
from tickets.history_codes import Kind
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

    `data` has facts that the kind's row names: others would go when its company is erased.
    `reason` is what a person wrote, and nothing else. `was` is for moves: everything else happens
    in the ticket's present status.

    Raises ValueError if `data` has a fact that the row does not name.
    """
    if unknown := set(data or ()).difference(kind.row.fact_names):
        raise ValueError(f"The row of {kind} in tickets/history_codes.py has no {unknown}.")
    if kind.row.news is not None:
        news.note_news(ticket, actor, kind.row.news, was=was)
    entry = HistoryEntry(
        ticket=ticket,
        by=actor.by,
        actor=actor.name,
        was=was if kind.row.public else ticket.status,
        now=ticket.status,
        kind=kind,
        reason=reason,
        data=data or {},
        public=kind.row.public,
        request_id=request_ids.current(),
        created_at=timezone.now(),
    )
    insert_row(entry)
    if kind.row.notifies:
        notify_of_assignment(ticket, actor)
    return entry


def record_request(ticket: Ticket, actor: Actor, requested: Sequence[str]) -> None:
    """Write that documents were requested while the status stayed as it is."""
    data = {"requested": list(requested)}
    record_history(ticket, actor, Kind.DOCUMENTS_REQUESTED, data=data)
