"""What agents do to tickets: move, reply, note (decision T3), and what leads do with appeals.

The desk and commands come here.
"""

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
from tickets.changes.decisions import UNSAID, Decision, code_of_decision
from tickets.changes.documents import request_documents
from tickets.changes.files import NewFile
from tickets.changes.history import record_request
from tickets.changes.news import telling
from tickets.changes.seen import Seen, require_read
from tickets.changes.text_bounds import count_text
from tickets.changes.writes import MoveRefused, add_comment, change_status
from tickets.labels import status_label
from tickets.models import Ticket
from tickets.statuses import ASKING, TERMINAL, TOLD, By, Status, needs_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """What an agent sends from a ticket: a text, a move, or both."""

    ticket_id: int
    user: User
    text: str = ""
    # The company reads a public text; any other is a note for agents.
    public: bool
    # Where the ticket goes; None leaves it where it is.
    to: Status | None = None
    # What the page on which the agent decided had shown; None is for commands.
    seen: Seen | None = None
    # The names of the documents that the company is asked for.
    requested: Sequence[str] = ()
    decision: Decision = UNSAID
    # Examined and in the storage; for the company if the text is public.
    files: Sequence[NewFile] = ()
    # Names the form that was sent, so that it is taken once.
    key: UUID | None = None


@telling
def answer(reply: AgentReply) -> None:
    """Write, move, or both in one go. The text is said once: as the move's reason, if it has one.

    A note is nobody's reason but the agents'. Raises what `move` and `write` raise, and
    FileRefused.
    """
    actor = actor_for(reply.user)
    ticket = hold_read(reply.ticket_id, reply.seen, reply.user)
    text = text_with_files(ticket, said(reply.text), reply.files, public=reply.public)
    if reply.to is None:
        write_on(ticket, actor, text, public=reply.public, requested=reply.requested)
    else:
        move_and_write(ticket, actor, reply, reply.to, text)
    attach_agent_files(ticket, actor, reply.files, public=reply.public)


def move_and_write(ticket: Ticket, actor: Actor, reply: AgentReply, to: Status, text: str) -> None:
    told = reply.public and to in TOLD
    kept = needs_reason(Status(ticket.status), to) and to not in TOLD
    reason, asked = text if told or kept else "", reply.requested
    move_held(ticket, actor, to, reason=reason, requested=asked, decision=reply.decision)
    if text and not told:
        write_on(ticket, actor, text, public=reply.public, requested=() if to in TOLD else asked)


@telling
def move(
    ticket_id: int,
    to: Status,
    *,
    user: User,
    reason: str = "",
    seen: Seen | None = None,
    requested: Sequence[str] = (),
    decision: Decision = UNSAID,
) -> Ticket:
    """Move a ticket for an agent; `seen` is what the page had shown on which they decided.

    The reason is a public comment where the move concerns the company, else history keeps it. It
    names the documents `requested`, which are a reason of their own to request information.
    `decision` is the reason code and the amounts of a move that decides.
    Raises Ticket.DoesNotExist, NotAllowed, StaleTicket and MoveRefused.
    """
    actor = actor_for(user)
    ticket = hold_read(ticket_id, seen, user)
    move_held(ticket, actor, to, reason=reason, requested=requested, decision=decision)
    return ticket


@telling
def play_move(
    company: Company, ticket_id: int, to: Status, *, reason: str, requested: Sequence[str]
) -> None:
    """Move the company's ticket as a lead would: for the test environment (decision N15).

    Raises Ticket.DoesNotExist, MoveRefused and TextRefused.
    """
    ticket = company.tickets.hold(ticket_id)
    count_text(company, reason, *requested)
    move_held(ticket, SANDBOX, to, reason=reason, requested=requested)


def move_held(
    ticket: Ticket,
    actor: Actor,
    to: Status,
    *,
    reason: str,
    requested: Sequence[str],
    decision: Decision = UNSAID,
) -> None:
    if to not in ASKING:
        requested = ()
    was, reason = Status(ticket.status), with_requested_documents(ticket, said(reason), requested)
    data: dict[str, Any] = {"requested": list(requested)} if requested else {}
    if code := code_of_decision(ticket, actor, to, decision):
        data["code"] = code
    change_status(ticket, to, actor, reason=reason, reason_code=code, data=data)
    request_documents(ticket, requested)
    if needs_reason(was, to) and not reason:
        text = gettext("Give a reason: it is required to move from %(was)s to %(to)s.")
        raise MoveRefused(text % {"was": status_label(was), "to": status_label(to)})
    if reason and to in TOLD:
        add_comment(ticket, actor, reason)
    letters.tell_move(ticket, reason)
    if was in TERMINAL and (appeal := accept_pending(ticket, actor)):
        letters.tell_appeal_decided(ticket, appeal)


@telling
def decide_appeal(
    ticket_id: int,
    *,
    accept: bool,
    user: User,
    reason: str = "",
    seen: Seen | None = None,
    alone: bool = False,
) -> Ticket:
    """Accept an appeal, which reopens the ticket, or refuse it (decision N14).

    The company reads the reason of a refusal; that of a reopening stays with agents. The only lead
    decides on their own decision if they say that they are `alone`. Raises Ticket.DoesNotExist,
    NotAllowed, StaleTicket, NoAppeal, OwnDecision, and MoveRefused without a reason.
    """
    actor = actor_for(user)
    if actor.by != By.LEAD:
        text = gettext("%(name)s is not a lead. Only a lead decides appeals.")
        raise NotAllowed(text % {"name": actor.name})
    ticket = hold_read(ticket_id, seen, user)
    pending_appeal(ticket)
    refuse_own_decision(ticket, actor, alone=alone)
    if accept:
        move_held(ticket, actor, Status.IN_REVIEW, reason=reason, requested=())
        return ticket
    if not said(reason):
        text = gettext("Give a reason: the company reads why its appeal is refused.")
        raise MoveRefused(text)
    letters.tell_appeal_decided(ticket, refuse_pending(ticket, actor, said(reason)))
    return ticket


@telling
def write(ticket_id: int, text: str, *, user: User, public: bool) -> None:
    """Add a reply that the company reads, or a note that it does not.

    Raises Ticket.DoesNotExist, NotAllowed, and ValueError where there is no text.
    """
    answer(AgentReply(ticket_id=ticket_id, user=user, text=text, public=public))


def write_on(
    ticket: Ticket, actor: Actor, text: str, *, public: bool, requested: Sequence[str]
) -> None:
    """Write on a held ticket. A reply may ask for documents; a note asks nobody."""
    asked = list(requested) if public else []
    text = with_requested_documents(ticket, said(text), asked)
    if not text:
        raise ValueError(gettext("Write something."))
    if asked:
        record_request(ticket, actor, asked)
        request_documents(ticket, asked)
    add_comment(ticket, actor, text, public=public)


def said(text: str) -> str:
    """Without the space around it; nothing where there is nothing to read (decision N30)."""
    return "" if is_blank(text) else text.strip()


def hold_read(ticket_id: int, seen: Seen | None, user: User) -> Ticket:
    """The ticket, locked. Raises Ticket.DoesNotExist, and StaleTicket where anything is unread."""
    ticket = Ticket.objects.hold(ticket_id)
    require_read(ticket, seen, user)
    return ticket


def with_requested_documents(ticket: Ticket, reason: str, requested: Sequence[str]) -> str:
    """The reason, and below it whatever it does not name of the documents asked for."""
    unnamed = [one for one in requested if one.casefold() not in reason.casefold()]
    if not unnamed:
        return reason
    with translation.override(ticket.company.written_language):
        asking = gettext("Please send:")
    return "\n".join([*filter(None, [reason]), asking, *(f"- {one}" for one in unnamed)])
