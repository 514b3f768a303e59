"""Entries in the history of tickets; all of them are written here (decision T17)."""

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
    previous: Status | None = None,
    reason: str = "",
    data: dict[str, Any] | None = None,
) -> HistoryEntry:
    """Record a change of a ticket in its transaction; note news for the company, notify agents.

    `data` may only have facts that the kind's row names; erasure relies on it. `reason` is a text
    by a person, and nothing else. `was` is the status before a move; other changes happen in the
    ticket's present status.

    Raises ValueError if `data` has a fact that the row does not name.
    """
    if unknown := set(data or ()).difference(kind.row.fact_names):
        raise ValueError(f"The row of {kind} in tickets/history_codes.py has no {unknown}.")
    if kind.row.news is not None:
        news.note_news(ticket, actor, kind.row.news, previous=previous)
    entry = HistoryEntry(
        ticket=ticket,
        by=actor.by,
        actor=actor.name,
        was=previous if kind.row.public else ticket.status,
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
    """Record a request for documents without a move."""
    data = {"requested": list(requested)}
    record_history(ticket, actor, Kind.DOCUMENTS_REQUESTED, data=data)
