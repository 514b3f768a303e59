"""Kinds of entries in a ticket's history, in one table.

An entry stores its kind and facts; the desk renders it in the reader's language (decision page
tickets-history-is-a-code-and-its-data). The database, companies' news, erasure, the desk's thread
and its open pages read the table; nothing else lists kinds.

A new kind needs:

1. A row of `Kind`. Its code can never change, as stored history refers to it.
2. `./dev manage makemigrations`, as the code is a choice of `HistoryEntry.kind`.
3. `./dev translate`, and its sentences in Spanish.
4. A case for each sentence in tests/desk/test_history_words.py, and a line of `IS_NEWS` in
   tests/tickets/test_news.py. Their tests fail with its name until then.

`history_words.places` fills the placeholders of sentences; add one there for a new fact.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TYPE_CHECKING, Self

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


class TicketChange(StrEnum):
    """Reasons for an event about a ticket (decision N5).

    If one request does several of these, its event has the first in this order.
    """

    APPEAL_DECIDED = "appeal_decided"
    APPEALED = "appealed"
    OPENED = "opened"
    MOVED = "moved"
    DOCUMENTS_REQUESTED = "documents_requested"
    # A public comment without a move.
    REPLIED = "replied"


class Rule(TextChoices):
    """Rule by which an agent was chosen for a ticket, or a ticket for an agent."""

    LEAST_BUSY = "least_busy", _("least busy")
    # The most urgent unassigned ticket of a type that the agent takes.
    MOST_URGENT = "most_urgent", _("took it")
    AGENT_CHOICE = "agent_choice", _("took it")
    LEAD_CHOICE = "lead_choice", _("chosen by a lead")
    COLLEAGUE_CHOICE = "colleague_choice", _("chosen by a colleague")
    # The agent replied to a ticket without an agent.
    REPLIED = "replied", _("replied to it")
    CALLER = "caller", _("opened it for a caller")


class NotAssigned(StrEnum):
    """Reasons of automatic assignment for leaving a ticket unassigned."""

    NOBODY_AVAILABLE = "nobody_available"
    ALL_AT_CAPACITY = "all_at_capacity"
    # The agents could not be locked in time.
    LOCK_TIMEOUT = "lock_timeout"


class NotMoved(StrEnum):
    """Reasons for refusing the move that a company requested."""

    # The requested status cannot follow the current one (decision T5).
    NOT_ALLOWED = "not_allowed"
    # The relevance check held it back (decision T9).
    NOTHING_NEW = "nothing_new"


@dataclass(frozen=True, slots=True)
class Row:
    """Properties of a kind of entry."""

    code: str
    # By the traits that an entry must have (`history_words.traits`); the first match is shown.
    sentences: Mapping[str, "StrPromise"]
    # Names of its facts: numbers, codes and our agents, which stay when its company is erased.
    facts: str = ""
    # Names of the facts in the company's own words, which are erased with it.
    texts: str = ""
    # Companies see it.
    public: bool = False
    # Sent to companies as an event. Other kinds are internal, or accompany a comment that is sent.
    news: TicketChange | None = None
    # Agents may act on the ticket without having read it (decision N18).
    quiet: bool = False
    # Shown in the thread; entries that move or assign a ticket always are.
    in_thread: bool = False
    # The ticket's agent is notified, as somebody else did it.
    notifies: bool = False

    @property
    def fact_names(self) -> list[str]:
        return [*self.facts.split(), *self.texts.split()]


@unique
class Kind(StrEnum):
    """Table of the kinds, in the order of the choices in the database."""

    row: Row

    OPENED = Row(
        "opened",
        {
            "person": _("{actor} opened the ticket for {company}."),
            "": _("{actor} opened the ticket."),
        },
        public=True,
        news=TicketChange.OPENED,
    )
    # `variables`: a diff; `complete`: whether the last requested document has arrived; `code`: the
    # reason code of a decision.
    MOVED = Row(
        "moved",
        {
            "automation": _("The automation “{actor}” moved it from {was} to {now}."),
            "": _("{actor} moved it from {was} to {now}."),
        },
        facts="complete code",
        texts="requested variables",
        public=True,
        news=TicketChange.MOVED,
    )
    # The company requested the status `to` and was refused.
    MOVE_REFUSED = Row(
        "move_refused",
        {
            "not_allowed": _("{actor} asked for {asked}, which cannot follow {now}."),
            "nothing_new": _("Not moved to {asked}: the message said nothing new."),
            "": _("{actor} asked for {asked}. The status stayed {now}."),
        },
        facts="to why",
        texts="variables",
    )
    DATA_CHANGED = Row(
        "data_changed",
        {"": _("{actor} changed the variables. The status stayed {now}.")},
        texts="variables",
    )
    # `agent`: names of the former and the new one, or nulls; `loads`: load and capacity by name.
    ASSIGNED = Row(
        "assigned",
        {"": _("Assigned automatically to {agent} (least busy).")},
        facts="agent rule loads",
        notifies=True,
    )
    UNASSIGNED = Row(
        "unassigned",
        {
            "nobody_available": _("Left unassigned: no agent for this ticket type is available."),
            "all_at_capacity": _(
                "Left unassigned: every available agent for this ticket type is at capacity."
            ),
            "lock_timeout": _(
                "Left unassigned for now: other tickets were being assigned at that moment."
            ),
            "": _("Left unassigned."),
        },
        facts="why loads",
        quiet=True,
    )
    TAKEN = Row(
        "taken",
        {
            "replied": _("{agent} replied and so took the ticket."),
            "caller": _("{agent} took the ticket that they opened."),
            "most_urgent": _("{agent} took the ticket, the most urgent unassigned one."),
            "agent_choice": _("{agent} chose the ticket and took it."),
            "": _("{agent} took the ticket."),
        },
        facts="agent rule loads",
    )
    # An entry without a new agent has no `loads`; automatic assignment follows it.
    REASSIGNED = Row(
        "reassigned",
        {
            "automation former": _(
                "The automation “{actor}” reassigned it from {former} to {agent}."
            ),
            "automation": _("The automation “{actor}” assigned it to {agent}."),
            "system": _("Taken back from {former}, who is no longer active."),
            "nobody former": _("Reassigned automatically by {actor} (was assigned to {former})."),
            "nobody": _("Assigned automatically by {actor}."),
            "over former": _(
                "{actor} reassigned it from {former} to {agent}, over capacity"
                " ({load} of {capacity})."
            ),
            "over": _("{actor} assigned it to {agent}, over capacity ({load} of {capacity})."),
            "former": _("{actor} reassigned it from {former} to {agent}."),
            "": _("{actor} assigned it to {agent}."),
        },
        facts="agent rule loads",
        notifies=True,
    )
    HANDED_OVER = Row(
        "handed_over",
        {
            "over former": _(
                "{actor} handed it over from {former} to {agent}, over capacity"
                " ({load} of {capacity})."
            ),
            "over": _("{actor} handed it over to {agent}, over capacity ({load} of {capacity})."),
            "former": _("{actor} handed it over from {former} to {agent}."),
            "": _("{actor} handed it over to {agent}."),
        },
        facts="agent rule loads",
        notifies=True,
    )
    RELATED = Row(
        "related", {"": _("{actor} linked it to ticket {ticket}.")}, facts="ticket", quiet=True
    )
    UNRELATED = Row(
        "unrelated",
        {"": _("{actor} removed the link to ticket {ticket}.")},
        facts="ticket",
        quiet=True,
    )
    SNOOZED = Row("snoozed", {"": _("{actor} snoozed it. {until}.")}, facts="until", quiet=True)
    WOKEN = Row("woken", {"": _("{actor} brought it back.")}, quiet=True)
    DOCUMENTS_REQUESTED = Row(
        "documents_requested",
        {"": _("{actor} requested documents: {documents}.")},
        texts="requested",
        news=TicketChange.DOCUMENTS_REQUESTED,
    )
    APPEALED = Row(
        "appealed",
        {"": _("{actor} appealed the decision.")},
        news=TicketChange.APPEALED,
        in_thread=True,
    )
    # `own`: the lead had also made the appealed decision.
    APPEAL_DECIDED = Row(
        "appeal_decided",
        {
            "own accepted": _("{actor}, the only lead, accepted the appeal of their own decision."),
            "own refused": _("{actor}, the only lead, refused the appeal of their own decision."),
            "accepted": _("{actor} accepted the appeal."),
            "refused": _("{actor} refused the appeal."),
            "": _("{actor} decided the appeal."),
        },
        facts="outcome own",
        news=TicketChange.APPEAL_DECIDED,
        in_thread=True,
    )
    # `document`: name of the requested document that the file is, or null; `for_company`, only for
    # an agent's file: whether the company sees it.
    FILE_ADDED = Row(
        "file_added",
        {"": _("{actor} added a file: {file}.")},
        facts="file for_company",
        texts="name sha256 document",
        in_thread=True,
    )
    # `amounts`: by name (claimed, offered, paid, currency) the texts before and after, or nulls.
    AMOUNTS_CHANGED = Row(
        "amounts_changed",
        {"": _("{actor} changed the amounts: {amounts}.")},
        facts="amounts",
        in_thread=True,
    )
    # `number` and `of`, or `last` if the ticket is declined without an answer to this reminder.
    REMINDED = Row(
        "reminded",
        {
            "automation last": _(
                "The automation “{actor}” reminded the company for the last time."
            ),
            "automation": _("The automation “{actor}” reminded the company ({number} of {of})."),
        },
        facts="number of last",
    )
    ESCALATED = Row(
        "escalated",
        {
            "automation": _("The automation “{actor}” told the leads that the ticket is due soon."),
        },
        facts="due",
        in_thread=True,
    )
    EVIDENCE_TAKEN = Row(
        "evidence_taken", {"": _("{actor} downloaded the evidence.")}, texts="sha256", quiet=True
    )
    # `copy`: "company" unless it was made for the carrier.
    CLAIM_FILE_TAKEN = Row(
        "claim_file_taken",
        {"": _("{actor} downloaded the claim file.")},
        facts="language copy",
        texts="sha256",
        quiet=True,
    )

    if not TYPE_CHECKING:  # type checkers would take `Kind("moved")` for a call of __new__

        def __new__(cls, row: Row) -> Self:
            kind = str.__new__(cls, row.code)
            kind._value_ = row.code
            kind.row = row
            return kind


ROWS: Mapping[str, Row] = {kind.row.code: kind.row for kind in Kind}
QUIET = frozenset(kind for kind in Kind if kind.row.quiet)
IN_THREAD = frozenset(kind for kind in Kind if kind.row.in_thread)
ASSIGNING = frozenset(kind for kind in Kind if "agent" in kind.row.facts.split())
# The only kinds that may be written without a lock on the ticket.
SLEEP = frozenset({Kind.SNOOZED, Kind.WOKEN})
