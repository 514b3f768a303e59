"""Moves of one or many tickets, after a dialog that asks for the reason."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from uuid import uuid4

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext, ngettext

from core.jobs.failing_rows import try_each
from desk.common.admin_base import ModelAdmin
from desk.common.forms import MoveForm
from desk.common.pages import CHANGE_TICKET, desk_page, draw
from desk.common.requests import StaffRequest, staff
from desk.queue import places
from desk.queue.rows import listed_tickets
from desk.ticket import (
    answering,
    claims,
    macros,
    next_ticket,
    pending,
    pending_pages,
    unread,
)
from desk.ticket.pending_bar import act_title
from tickets.assignment.reassigning import MOST_AT_ONCE
from tickets.changes.actors import NotAllowed
from tickets.changes.page_tokens import PageToken, require_page_token, with_page_token
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.labels import action_text, move_verb, status_label
from tickets.models import PendingAnswer, Ticket
from tickets.statuses import AGENT_MOVES, NOTIFYING, REQUESTING, Status, needs_reason

Action = Callable[[ModelAdmin, HttpRequest, QuerySet[Ticket]], HttpResponse | None]


def first_of(tickets: QuerySet[Ticket]) -> QuerySet[Ticket]:
    """Return the first MOST_AT_ONCE tickets; the list warns if more were selected."""
    return tickets.filter(pk__in=list(tickets.values_list("pk", flat=True)[:MOST_AT_ONCE]))


class Picked(NamedTuple):
    """A ticket to move, with the token of the agent's page."""

    ticket_id: int
    seen: PageToken | None


def picked_by(query: QueryDict, most: int) -> list[Picked]:
    """Read the tickets of a dialog from its address or form, at most `most`. Raises Http404."""
    tokens = unread.tokens_in(query)
    try:
        ids = [int(text) for text in query.getlist("ticket")[:most]]
        return [Picked(ticket_id, tokens.get(ticket_id)) for ticket_id in ids]
    except ValueError as error:
        raise Http404 from error


def move_action(to: Status) -> Action:
    """Create the list's action that opens the dialog for a move of the selected tickets."""

    @admin.action(description=action_text(to), permissions=["change"])
    def open_dialog(
        page: ModelAdmin, request: HttpRequest, queryset: QuerySet[Ticket]
    ) -> HttpResponse:
        return confirmation(request, to, first_of(queryset), MoveForm())

    open_dialog.__name__ = f"move_to_{to.slug}"
    return open_dialog


MOVE_ACTIONS = tuple(move_action(to) for to in AGENT_MOVES)


@desk_page(CHANGE_TICKET)
def move_page(request: StaffRequest, to: int) -> HttpResponse:
    """Show the dialog (GET) or move (POST); refused tickets are shown again with the reason."""
    if to not in AGENT_MOVES:
        raise Http404
    query = request.POST or pending_pages.returned_form(request, to) or request.GET
    picked = picked_by(query, MOST_AT_ONCE)
    form = MoveForm(None if query is request.GET else query)
    form.moves_to = Status(to)
    refused: dict[int, str] = {}
    if request.method == "POST" and form.is_valid():
        refused = move_all(request, picked, Status(to), form.cleaned_data)
        if not refused and len(picked) == 1:
            return next_ticket.next_page(request, picked[0].ticket_id)
        if not refused:
            return places.back_to_list(request)
    ids = refused or [one.ticket_id for one in picked]
    tickets = listed_tickets().filter(pk__in=ids)
    return confirmation(request, Status(to), tickets, form, refused, query)


def confirmation(
    request: HttpRequest,
    to: Status,
    tickets: QuerySet[Ticket],
    form: MoveForm,
    refused: dict[int, str] | None = None,
    query: QueryDict | None = None,
) -> HttpResponse:
    verb = move_verb(to)
    query = query or request.POST or request.GET
    rows = unread.shown_tickets(with_page_token(tickets), query, refused, staff(request))
    tickets_shown = [row.ticket for row in rows]
    context = {
        "to": to,
        "verb": verb,
        "told": to in NOTIFYING,
        "asks": to in REQUESTING,
        "needed": any(needs_reason(Status(one.status), to) for one in tickets_shown),
        "tickets": rows,
        "asked": documents_to_request(to, tickets_shown),
        "form": form,
        "place": places.dialog_place(request),
        **claims.decision_context(to, tickets_shown, form),
    }
    status = 409 if refused else 400 if form.errors else 200
    title = act_title(verb, [one.pk for one in tickets_shown])
    return draw(request, "admin/tickets/ticket/move.html", title, status=status, **context)


def documents_to_request(to: Status, tickets: list[Ticket]) -> list[str]:
    """Return the documents that a dialog suggests: those that the first ticket's macros request."""
    if to not in REQUESTING or not tickets:
        return []
    return macros.usual_documents(macros.macros_for(tickets[0]))


def move_all(
    request: StaffRequest, picked: Iterable[Picked], to: Status, values: dict[str, Any]
) -> dict[int, str]:
    """Move each ticket in its own transaction; return the refusals by ticket id."""
    batch = values["back"] or uuid4()
    waiting = False

    def move(one: Picked) -> None:
        nonlocal waiting
        answer = PendingAnswer(
            ticket_id=one.ticket_id,
            user=request.user,
            kind=PendingAnswer.Kind.MOVE,
            batch=batch,
            to=to,
            text=values["reason"],
            seen=str(require_page_token(one.seen)),
            requested=values["requested"],
            **pending.decision_fields(values["decision"]),
        )
        if values["back"]:
            pending.replace_returned(answer, values["back"])
        try:
            answering.submit_answer(answer, key=values["key"])
        except Ticket.DoesNotExist as error:
            raise MoveRefused(gettext("Ticket not found.")) from error
        waiting = waiting or answer.due_at is not None

    moved, refused = try_each(picked, move, refusals=(StaleTicket, MoveRefused, NotAllowed))
    if waiting:
        # Restart the time of the whole batch, so that all of it can be undone equally long.
        pending.restart_wait(request.user, batch)
    elif moved:
        text = ngettext(
            "%(count)d ticket moved to %(status)s.", "%(count)d tickets moved to %(status)s.", moved
        )
        messages.success(request, text % {"count": moved, "status": status_label(to)})
    if refused:
        text = ngettext(
            "%(count)d ticket was not moved.", "%(count)d tickets were not moved.", len(refused)
        )
        messages.error(request, text % {"count": len(refused)})
    return {one.ticket_id: why for one, why in refused.items()}
