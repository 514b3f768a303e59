"""Context of a ticket's page, read in a fixed number of queries."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import uuid4

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from core.files.kinds import KINDS
from core.values.zones import moment_text
from desk.common import attachments
from desk.common.badges import tint
from desk.models import Storm
from desk.ticket import (
    claims,
    conversation,
    history_words,
    macros,
    timeline,
    together,
    values,
    visits,
)
from tickets import labels
from tickets.changes.actors import NotAllowed, actor_for
from tickets.changes.appeals import latest_appeal
from tickets.history_codes import Kind
from tickets.models import Appeal, HistoryEntry, ReasonCode, Ticket, TicketFile
from tickets.sla import clocks
from tickets.sla.clocks import ClockState
from tickets.stated_fields import STATED_FIELDS, StatedField
from tickets.statuses import AGENT_MOVES, TERMINAL, AgentMove, By, Status, allows, needs_reason

CLOCK_STATES = {
    ClockState.RUNNING: gettext_noop("due"),
    ClockState.SOON: gettext_noop("soon"),
    ClockState.OVERDUE: gettext_noop("overdue"),
    ClockState.PAUSED: gettext_noop("paused"),
    ClockState.DONE: gettext_noop("done"),
    ClockState.DONE_LATE: gettext_noop("done late"),
}


class DueClock(NamedTuple):
    """A clock's due time, or when it was met; `at` may be None while the clock is paused."""

    name: str
    at: datetime | None
    state: ClockState
    # The due time in the company's zone, "" if that has the same offset as the reader's.
    for_company: str = ""

    @property
    def words(self) -> str:
        return gettext(CLOCK_STATES[self.state])


class FileLine(NamedTuple):
    row: TicketFile
    kind: str


class OfferedMove(NamedTuple):
    """A move that the page offers, and the fields of its dialog."""

    to: Status
    how: AgentMove
    needed: bool
    # Key of its form, by which a repeated submission is recognized.
    key: str
    # The reason codes, for a move that decides.
    codes: list[ReasonCode]

    @property
    def slug(self) -> str:
        return self.to.slug.replace("_", "-")

    @property
    def tint(self) -> str:
        return tint(self.to)

    @property
    def verb(self) -> str:
        return labels.move_verb(self.to)

    @property
    def label(self) -> str:
        return labels.status_label(self.to)


def page_context(
    ticket: Ticket, user: User, *, may_work: bool, before: int | None = None, macro: str = ""
) -> dict[str, Any]:
    """Build the context of a ticket's page; records a visit if the user may work tickets."""
    seen_at = visits.record_visit(ticket.pk, user) if may_work else None
    history = conversation.history_of(ticket)
    thread = conversation.thread(
        ticket, history, seen_at=seen_at, viewer=user.get_username(), before=before
    )
    together.mark_mentions(thread.lines, user)
    shipment, others = timeline.shipment_of_ticket(ticket), together.other_tickets(ticket)
    appeal = latest_appeal(ticket, history)
    code_names = claims.code_names(ticket, history)
    # Requests and API tokens are shown only to users who also see failed rows.
    traces = user.has_perm("core.view_failedrow")
    return {
        "ticket": ticket,
        "thread": thread,
        "opened_by": opened_by(history),
        "history": [
            history_words.line(entry, code_names, traces=traces) for entry in reversed(history)
        ],
        "traces": traces,
        "stated": stated_lines(ticket),
        "reason_code": code_names.get(ticket.reason_code),
        "amount_lines": labels.amount_lines(ticket.amounts),
        "amounts": claims.amount_values(ticket, None),
        "requested": conversation.requested(
            history, last_heard(thread), list(ticket.requested_documents.all())
        ),
        "files": file_lines(ticket),
        **claims.required_context(ticket, may_work=may_work),
        "shipment": shipment,
        "others": others,
        "strip": timeline.timeline(shipment, together.ticket_marks(others)) if shipment else [],
        **together.together_context(ticket, user, may_work=may_work),
        "has_webhooks": shipment is not None and ticket.company.webhooks.exists(),
        "documents": [
            (one, values.leads_to_the_public_web(one.value or ""))
            for one in ticket.documents.order_by("position")
        ],
        "variables": values.variables(ticket.data),
        "appeal": appeal,
        "may_decide": may_work and may_decide(appeal, user),
        "clocks": clocks_of(ticket, timezone.now()),
        "storms": storms_of(ticket),
        "may_work": may_work,
        "present": visits.others(ticket.pk, user),
        **(agent_tools(ticket, shipment, user, macro) if may_work else {}),
    }


def stated_lines(ticket: Ticket) -> list[tuple[str, str]]:
    stated = ((one, getattr(ticket, one.name)) for one in STATED_FIELDS)
    return [(gettext(one.label), stated_text(one, value)) for one, value in stated if value]


def stated_text(field: StatedField, value: object) -> str:
    """Return a value for people: a choice by its label."""
    labels = {code: gettext(label) for code, label in field.choices}
    return labels.get(str(value), str(value))


def storms_of(ticket: Ticket) -> QuerySet[Storm]:
    return ticket.storms.exclude(state=Storm.State.DISMISSED).order_by("-pk")


def opened_by(history: list[HistoryEntry]) -> str:
    """Return the agent who opened the ticket for its company; "" if the company opened it."""
    first = history[0] if history else None
    by_agent = first and first.kind == Kind.OPENED and first.by in (By.AGENT, By.LEAD)
    return first.actor if first and by_agent else ""


def file_lines(ticket: Ticket) -> list[FileLine]:
    files = ticket.files.select_related("requested_document")
    return [FileLine(file, KINDS[file.media_type].label) for file in files]


def agent_tools(ticket: Ticket, shipment: Any, user: User, macro: str) -> dict[str, Any]:
    """Build the part of the context for users who may work tickets: moves, macros, composer."""
    values = macros.values_for(ticket, shipment, user)
    offered = [macros.fill_macro(macro, values) for macro in macros.macros_for(ticket)]
    moves = offered_moves(ticket, user)
    return {
        "moves": moves,
        "decisions": [move for move in moves if move.codes],
        "agent_moves": [(move.key, labels.move_verb(to)) for to, move in AGENT_MOVES.items()],
        "macros": offered,
        "chosen": next((one for one in offered if str(one.id) == macro), None),
        "asked": list(dict.fromkeys(name for one in offered for name in one.requested)),
        "key": uuid4(),
        "picker": attachments.upload_limits(),
        "may_give": user.has_perm("tickets.assign_ticket") and ticket.status not in TERMINAL,
        "claimable": ticket.agent_id is None and ticket.status not in TERMINAL,
    }


def may_decide(appeal: Appeal | None, user: User) -> bool:
    pending = appeal is not None and appeal.is_pending
    return pending and user.has_perm("tickets.reopen_ticket")


def last_heard(thread: conversation.Thread) -> datetime | None:
    return max((line.at for line in thread.lines if line.kind == "company"), default=None)


def offered_moves(ticket: Ticket, user: User) -> list[OfferedMove]:
    try:
        by: By = actor_for(user).by
    except NotAllowed:
        return []
    now, codes = Status(ticket.status), list(ReasonCode.objects.about([ticket.type_id]))
    return [
        OfferedMove(to, how, needs_reason(now, to), str(uuid4()), claims.codes_for(to, codes))
        for to, how in AGENT_MOVES.items()
        if allows(now, to, by)
    ]


def clocks_of(ticket: Ticket, now: datetime) -> list[DueClock]:
    """Return the clocks that are set, with the time that each is due or was met."""
    responded_at = ticket.first_responded_at or ticket.decided_at
    rows = (
        (
            gettext("First response"),
            (ticket.first_response_due_at, responded_at),
            clocks.first_response(ticket, now),
        ),
        (
            gettext("Resolution"),
            (ticket.resolution_due_at, ticket.decided_at),
            clocks.resolution(ticket, now),
        ),
        (
            gettext("Claim deadline"),
            (ticket.filing_due_at, ticket.decided_at),
            clocks.filing_state(ticket, now),
        ),
    )
    due_clocks = [
        DueClock(name, times[state in (ClockState.DONE, ClockState.DONE_LATE)], state)
        for name, times, state in rows
        if state != ClockState.NONE
    ]
    due = ticket.filing_due_at
    zone = ticket.company.zone
    if due and due_clocks[-1].at == due:
        here, there = timezone.localtime(due), due.astimezone(zone)
        if here.utcoffset() != there.utcoffset():
            due_clocks[-1] = due_clocks[-1]._replace(for_company=moment_text(due, zone))
    return due_clocks
