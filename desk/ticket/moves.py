"""Moves at the desk, of one ticket or of many, behind a confirmation that asks why."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from uuid import uuid4

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext, ngettext

from core.jobs.failing_rows import do_each
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
from tickets.changes.seen import Seen, require_seen, with_seen
from tickets.changes.writes import MoveRefused, StaleTicket
from tickets.labels import action_text, move_verb, status_label
from tickets.models import PendingAnswer, Ticket
from tickets.statuses import AGENT_MOVES, ASKING, TOLD, Status, needs_reason

Action = Callable[[ModelAdmin, HttpRequest, QuerySet[Ticket]], HttpResponse | None]


def first_of(tickets: QuerySet[Ticket]) -> QuerySet[Ticket]:
    """Return at most as many tickets as one bulk action takes; the list says when it has more."""
    return tickets.filter(pk__in=list(tickets.values_list("pk", flat=True)[:MOST_AT_ONCE]))


class Picked(NamedTuple):
    """A ticket to move, and what the agent's page had shown of it."""

    ticket_id: int
    seen: Seen | None


def picked_by(sent: QueryDict, most: int) -> list[Picked]:
    """The tickets that a dialog is about, as its address or its form names them. Raises Http404."""
    had = unread.tokens_in(sent)
    try:
        ids = [int(text) for text in sent.getlist("ticket")[:most]]
        return [Picked(one, had.get(one)) for one in ids]
    except ValueError as error:
        raise Http404 from error


def move_action(to: Status) -> Action:
    """The action of the list that asks whether, and why, to move what was selected."""

    @admin.action(description=action_text(to), permissions=["change"])
    def ask(page: ModelAdmin, request: HttpRequest, queryset: QuerySet[Ticket]) -> HttpResponse:
        return confirmation(request, to, first_of(queryset), MoveForm())

    ask.__name__ = f"move_to_{to.slug}"
    return ask


MOVE_ACTIONS = tuple(move_action(to) for to in AGENT_MOVES)


@desk_page(CHANGE_TICKET)
def move_page(request: StaffRequest, to: int) -> HttpResponse:
    """GET asks why, POST moves; what is refused is asked again with the reason kept."""
    if to not in AGENT_MOVES:
        raise Http404
    sent = request.POST or pending_pages.returned_form(request, to) or request.GET
    picked = picked_by(sent, MOST_AT_ONCE)
    form = MoveForm(None if sent is request.GET else sent)
    form.moves_to = Status(to)
    refused: dict[int, str] = {}
    if request.method == "POST" and form.is_valid():
        refused = move_all(request, picked, Status(to), form.cleaned_data)
        if not refused and len(picked) == 1:
            return next_ticket.next_page(request, picked[0].ticket_id)
        if not refused:
            return places.back_to_list(request)
    left = refused or [one.ticket_id for one in picked]
    tickets = listed_tickets().filter(pk__in=left)
    return confirmation(request, Status(to), tickets, form, refused, sent)


def confirmation(
    request: HttpRequest,
    to: Status,
    tickets: QuerySet[Ticket],
    form: MoveForm,
    refused: dict[int, str] | None = None,
    sent: QueryDict | None = None,
) -> HttpResponse:
    verb = move_verb(to)
    had = sent or request.POST or request.GET
    shown = unread.shown_tickets(with_seen(tickets), had, refused, staff(request))
    tickets_shown = [one.ticket for one in shown]
    context = {
        "to": to,
        "verb": verb,
        "told": to in TOLD,
        "asks": to in ASKING,
        "needed": any(needs_reason(Status(one.status), to) for one in tickets_shown),
        "tickets": shown,
        "asked": documents_to_request(to, tickets_shown),
        "form": form,
        "place": places.dialog_place(request),
        **claims.asked_of_decision(to, tickets_shown, form),
    }
    status = 409 if refused else 400 if form.errors else 200
    title = act_title(verb, [one.pk for one in tickets_shown])
    return draw(request, "admin/tickets/ticket/move.html", title, status=status, **context)


def documents_to_request(to: Status, tickets: list[Ticket]) -> list[str]:
    """The documents that may be asked for: those that macros ask for on these tickets."""
    if to not in ASKING or not tickets:
        return []
    return macros.usual_documents(macros.macros_for(tickets[0]))


def move_all(
    request: StaffRequest, picked: Iterable[Picked], to: Status, said: dict[str, Any]
) -> dict[int, str]:
    """Move each in a transaction of its own; returns why which were not moved."""

    batch = said["back"] or uuid4()
    waiting = False

    def move(one: Picked) -> None:
        nonlocal waiting
        answer = PendingAnswer(
            ticket_id=one.ticket_id,
            user=request.user,
            kind=PendingAnswer.Kind.MOVE,
            batch=batch,
            to=to,
            text=said["reason"],
            seen=str(require_seen(one.seen)),
            requested=said["requested"],
            **pending.decision_fields(said["decision"]),
        )
        if said["back"]:
            pending.take_up(answer, said["back"])
        try:
            answering.submit_answer(answer, key=said["key"])
        except Ticket.DoesNotExist as error:
            raise MoveRefused(gettext("Ticket not found.")) from error
        waiting = waiting or answer.due_at is not None

    moved, refused = do_each(picked, move, refusals=(StaleTicket, MoveRefused, NotAllowed))
    if waiting:
        # None leaves before the last of them can be taken back.
        pending.wait_anew(request.user, batch)
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
