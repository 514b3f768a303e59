"""Actions of agents on tickets: moves, replies, notes (decision T3), and decisions on appeals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import translation
from django.utils.translation import gettext

from companies.models import Company
from core.values.texts import is_blank
from tickets.changes import letters
from tickets.changes.actors import SANDBOX, Actor, NotAllowed, actor_for
from tickets.changes.agent_files import attach_agent_files, text_with_files
from tickets.changes.appeals import (
    accept_pending,
    pending_appeal,
    refuse_own_decision,
    refuse_pending,
)
from tickets.changes.decisions import NO_DECISION, Decision, code_of_decision
from tickets.changes.documents import request_documents
from tickets.changes.files import NewFile
from tickets.changes.history import record_request
from tickets.changes.news import ticket_service
from tickets.changes.page_tokens import PageToken, require_read
from tickets.changes.text_bounds import count_text
from tickets.changes.writes import MoveRefused, add_comment, change_status
from tickets.labels import status_label
from tickets.models import Ticket
from tickets.statuses import NOTIFYING, REQUESTING, TERMINAL, By, Status, needs_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """Reply of an agent to a ticket: a text, a move, or both."""

    ticket_id: int
    user: User
    text: str = ""
    # The company reads a public text; any other is a note for agents.
    public: bool
    # Target of the move; None leaves the status unchanged.
    to: Status | None = None
    # State that the agent's page had shown; None for commands.
    seen: PageToken | None = None
    # Names of the documents that the company is asked for.
    requested: Sequence[str] = ()
    decision: Decision = NO_DECISION
    # Examined and in the storage; for the company if the text is public.
    files: Sequence[NewFile] = ()
    # Idempotency key of the form.
    key: UUID | None = None


@ticket_service
def answer(reply: AgentReply) -> None:
    """Apply a reply in one transaction. Its text is stored once: as the move's reason if it can be.

    A note never becomes a reason that the company reads. Raises what `move` and `write` raise, and
    FileRefused.
    """
    actor = actor_for(reply.user)
    ticket = lock_unchanged(reply.ticket_id, reply.seen, reply.user)
    text = text_with_files(ticket, normalize_text(reply.text), reply.files, public=reply.public)
    if reply.to is None:
        write_on(ticket, actor, text, public=reply.public, requested=reply.requested)
    else:
        move_and_write(ticket, actor, reply, reply.to, text)
    attach_agent_files(ticket, actor, reply.files, public=reply.public)


def move_and_write(ticket: Ticket, actor: Actor, reply: AgentReply, to: Status, text: str) -> None:
    is_public_reason = reply.public and to in NOTIFYING
    is_internal_reason = needs_reason(Status(ticket.status), to) and to not in NOTIFYING
    reason = text if is_public_reason or is_internal_reason else ""
    names = reply.requested
    move_locked(ticket, actor, to, reason=reason, requested=names, decision=reply.decision)
    if text and not is_public_reason:
        write_on(
            ticket, actor, text, public=reply.public, requested=() if to in NOTIFYING else names
        )


@ticket_service
def move(
    ticket_id: int,
    to: Status,
    *,
    user: User,
    reason: str = "",
    seen: PageToken | None = None,
    requested: Sequence[str] = (),
    decision: Decision = NO_DECISION,
) -> Ticket:
    """Move a ticket for an agent; `seen` is the state that the agent's page had shown.

    The reason becomes a public comment if the move concerns the company, else it is stored in
    history. The documents `requested` are added to it, and suffice as a reason to request
    information. `decision` is the reason code and the amounts of a deciding move.
    Raises Ticket.DoesNotExist, NotAllowed, StaleTicket and MoveRefused.
    """
    actor = actor_for(user)
    ticket = lock_unchanged(ticket_id, seen, user)
    move_locked(ticket, actor, to, reason=reason, requested=requested, decision=decision)
    return ticket


@ticket_service
def play_move(
    company: Company, ticket_id: int, to: Status, *, reason: str, requested: Sequence[str]
) -> None:
    """Move the company's ticket as a lead would: for the test environment (decision N15).

    Raises Ticket.DoesNotExist, MoveRefused and TextRefused.
    """
    ticket = company.tickets.hold(ticket_id)
    count_text(company, reason, *requested)
    move_locked(ticket, SANDBOX, to, reason=reason, requested=requested)


def move_locked(
    ticket: Ticket,
    actor: Actor,
    to: Status,
    *,
    reason: str,
    requested: Sequence[str],
    decision: Decision = NO_DECISION,
) -> None:
    if to not in REQUESTING:
        requested = ()
    current = Status(ticket.status)
    reason = with_requested_documents(ticket, normalize_text(reason), requested)
    data: dict[str, Any] = {"requested": list(requested)} if requested else {}
    if code := code_of_decision(ticket, actor, to, decision):
        data["code"] = code
    change_status(ticket, to, actor, reason=reason, reason_code=code, data=data)
    request_documents(ticket, requested)
    if needs_reason(current, to) and not reason:
        text = gettext("Give a reason: it is required to move from %(was)s to %(to)s.")
        raise MoveRefused(text % {"was": status_label(current), "to": status_label(to)})
    if reason and to in NOTIFYING:
        add_comment(ticket, actor, reason)
    letters.email_move(ticket, reason)
    if current in TERMINAL and (appeal := accept_pending(ticket, actor)):
        letters.email_appeal_decision(ticket, appeal)


@ticket_service
def decide_appeal(
    ticket_id: int,
    *,
    accept: bool,
    user: User,
    reason: str = "",
    seen: PageToken | None = None,
    alone: bool = False,
) -> Ticket:
    """Accept an appeal, which reopens the ticket, or refuse it (decision N14).

    The company reads the reason for a refusal; the one for reopening is internal. The only lead may
    decide on their own decision, confirmed with `alone`. Raises Ticket.DoesNotExist, NotAllowed,
    StaleTicket, NoAppeal, OwnDecision, and MoveRefused without a reason.
    """
    actor = actor_for(user)
    if actor.by != By.LEAD:
        text = gettext("%(name)s is not a lead. Only a lead decides appeals.")
        raise NotAllowed(text % {"name": actor.name})
    ticket = lock_unchanged(ticket_id, seen, user)
    pending_appeal(ticket)
    refuse_own_decision(ticket, actor, alone=alone)
    if accept:
        move_locked(ticket, actor, Status.IN_REVIEW, reason=reason, requested=())
        return ticket
    if not normalize_text(reason):
        text = gettext("Give a reason: the company reads why its appeal is refused.")
        raise MoveRefused(text)
    letters.email_appeal_decision(ticket, refuse_pending(ticket, actor, normalize_text(reason)))
    return ticket


@ticket_service
def write(ticket_id: int, text: str, *, user: User, public: bool) -> None:
    """Add a public reply or an internal note.

    Raises Ticket.DoesNotExist, NotAllowed, and ValueError if the text is blank.
    """
    answer(AgentReply(ticket_id=ticket_id, user=user, text=text, public=public))


def write_on(
    ticket: Ticket, actor: Actor, text: str, *, public: bool, requested: Sequence[str]
) -> None:
    """Write on a locked ticket. Only a public reply can request documents."""
    names = list(requested) if public else []
    text = with_requested_documents(ticket, normalize_text(text), names)
    if not text:
        raise ValueError(gettext("Write something."))
    if names:
        record_request(ticket, actor, names)
        request_documents(ticket, names)
    add_comment(ticket, actor, text, public=public)


def normalize_text(text: str) -> str:
    """Strip a text; "" if it has nothing visible (decision N30)."""
    return "" if is_blank(text) else text.strip()


def lock_unchanged(ticket_id: int, seen: PageToken | None, user: User) -> Ticket:
    """Lock a ticket. Raises Ticket.DoesNotExist, and StaleTicket if the agent has unread items."""
    ticket = Ticket.objects.hold(ticket_id)
    require_read(ticket, seen, user)
    return ticket


def with_requested_documents(ticket: Ticket, reason: str, requested: Sequence[str]) -> str:
    """Append the requested documents that the reason does not name itself."""
    unnamed = [name for name in requested if name.casefold() not in reason.casefold()]
    if not unnamed:
        return reason
    with translation.override(ticket.company.written_language):
        request = gettext("Please send:")
    return "\n".join([*filter(None, [reason]), request, *(f"- {name}" for name in unnamed)])
