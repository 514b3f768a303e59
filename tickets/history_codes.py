"""Kinds of entries in a ticket's history: one table, and what follows from it.

An entry stores its kind and facts; the desk says it in the reader's language (decision page
tickets-history-is-a-code-and-its-data). The database, companies' news, erasure, the desk's thread
and its open pages read the table; nothing else lists kinds.

A new kind needs:

1. A row of `Kind`. Its code stays for ever: history keeps it.
2. `./dev manage makemigrations`: the code is a choice of `HistoryEntry.kind`.
3. `./dev translate`, and its sentences in Spanish.
4. A case for each sentence in tests/desk/test_history_words.py, and a line of `IS_NEWS` in
   tests/tickets/test_news.py. Their tests fail by its name until then.

A sentence may name the places that `history_words.places` fills; a new fact gets its place there.
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
    """What an event says of a ticket (decision N5).

    If one request does several of these, its event has the one that comes first here.
    """

    APPEAL_DECIDED = "appeal_decided"
    APPEALED = "appealed"
    OPENED = "opened"
    MOVED = "moved"
    DOCUMENTS_REQUESTED = "documents_requested"
    # A comment that the company reads, and nothing else.
    REPLIED = "replied"


class Rule(TextChoices):
    """How an agent was chosen for a ticket, or a ticket for an agent."""

    LEAST_BUSY = "least_busy", _("least busy")
    # Of all unassigned tickets that the agent takes.
    MOST_URGENT = "most_urgent", _("took it")
    AGENT_CHOICE = "agent_choice", _("took it")
    LEAD_CHOICE = "lead_choice", _("chosen by a lead")
    COLLEAGUE_CHOICE = "colleague_choice", _("chosen by a colleague")
    # The ticket had no agent.
    REPLIED = "replied", _("replied to it")
    CALLER = "caller", _("opened it for a caller")


class NotAssigned(StrEnum):
    """Why automatic assignment left a ticket unassigned."""

    NOBODY_AVAILABLE = "nobody_available"
    ALL_AT_CAPACITY = "all_at_capacity"
    # The agents could not be locked in time.
    LOCK_TIMEOUT = "lock_timeout"


class NotMoved(StrEnum):
    """Why a ticket stayed where it was though its company asked for a move."""

    # The status that was asked for cannot follow the one it is in (decision T5).
    NOT_ALLOWED = "not_allowed"
    # The relevance check held it back (decision T9).
    NOTHING_NEW = "nothing_new"


@dataclass(frozen=True, slots=True)
class Row:
    """All that depends on an entry's kind."""

    code: str
    # By traits that an entry must have (`history_words.traits`): the first that fits is shown.
    sentences: Mapping[str, "StrPromise"]
    # Names of its facts: numbers, codes and our agents, which stay when its company is erased.
    facts: str = ""
    # Names of those with the company's own words, which go then.
    texts: str = ""
    # Companies see it.
    public: bool = False
    # Companies hear of it. All else is between agents, or comes with a comment that is news itself.
    news: TicketChange | None = None
    # Agents may act on the ticket without having read it (decision N18).
    quiet: bool = False
    # It stands in the thread, as whatever moves or assigns a ticket does.
    in_thread: bool = False
    # The ticket's agent did not do it and is notified.
    notifies: bool = False

    @property
    def fact_names(self) -> list[str]:
        return [*self.facts.split(), *self.texts.split()]


@unique
class Kind(StrEnum):
    """The table. Its order is that of the choices in the database."""

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
    # `variables`: a diff; `complete`: the last document that was requested has come; `code`: the
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
    # The company asked for the status `to` and did not get it.
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
    # Without a new agent there are no `loads`, and automatic assignment follows.
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
    # `own`: the lead had made the decision as well.
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
    # `document`: name of the requested one that it is, or null; `for_company`, of an agent's file:
    # whether the company sees it.
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
    # `number` and `of`, or `last` where the ticket is declined without an answer.
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

    if not TYPE_CHECKING:  # which takes `Kind("moved")` for a call of this

        def __new__(cls, row: Row) -> Self:
            kind = str.__new__(cls, row.code)
            kind._value_ = row.code
            kind.row = row
            return kind


ROWS: Mapping[str, Row] = {kind.row.code: kind.row for kind in Kind}
QUIET = frozenset(kind for kind in Kind if kind.row.quiet)
IN_THREAD = frozenset(kind for kind in Kind if kind.row.in_thread)
ASSIGNING = frozenset(kind for kind in Kind if "agent" in kind.row.facts.split())
# The only ones that may be written by somebody who does not hold the ticket.
SLEEP = frozenset({Kind.SNOOZED, Kind.WOKEN})
