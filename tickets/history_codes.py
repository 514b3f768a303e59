"""The codes that a ticket's history is stored in: what happened, and why. No database here.

An entry has a kind and its facts (`data`); the desk puts them into words when it shows them
(decision: history is a code and its data). A stored code never changes its meaning, and none is
removed: history keeps them for ever.
"""

from enum import StrEnum


class Kind(StrEnum):
    """What happened, and which facts the entry has."""

    # The first entry of every ticket. No facts.
    OPENED = "opened"
    # From `was` to `now`. Perhaps `requested` (names of documents), `variables` (a diff) or
    # `complete` (true: the last document that was requested has come). A decision has `code`,
    # the code of its reason.
    MOVED = "moved"
    # The company asked for a status that the ticket did not get: `to`, `why` (NotMoved) and
    # perhaps `variables`.
    MOVE_REFUSED = "move_refused"
    # The company replaced its variables and nothing else: `variables`.
    DATA_CHANGED = "data_changed"
    # Automatic: `agent` ([None, name]), `rule` (Rule) and `loads` (name: [load, capacity]).
    ASSIGNED = "assigned"
    # Automatic assignment found nobody: `why` (NotAssigned) and `loads`.
    UNASSIGNED = "unassigned"
    # An agent took a ticket that nobody had, by replying to it or opening it for a caller too:
    # `agent`, `rule` and `loads`.
    TAKEN = "taken"
    # A lead or an automation assigned it: `agent` ([former or None, new or None]), `rule` and, for
    # a new one, `loads`. Without a new one it goes to whom automatic assignment finds.
    REASSIGNED = "reassigned"
    # An agent passed it on: `agent` ([former or None, new]), `rule` and `loads`.
    HANDED_OVER = "handed_over"
    # An agent linked it to another ticket of its company, or took that back: `ticket` (its id).
    RELATED = "related"
    UNRELATED = "unrelated"
    # Its agent put it aside `until` a time; somebody, or that time, brought it back.
    SNOOZED = "snoozed"
    WOKEN = "woken"
    # `requested`, where the status stays.
    DOCUMENTS_REQUESTED = "documents_requested"
    # The company appealed the decision. What it wrote is a comment.
    APPEALED = "appealed"
    # A lead decided on that: `outcome` (accepted, refused).
    APPEAL_DECIDED = "appeal_decided"
    # A file was added: `file` (its id), `name`, `sha256`, and `document`, the name of the requested
    # one that it is, or null. Of an agent's also `for_company`: whether the company sees it.
    FILE_ADDED = "file_added"
    # `amounts`: of what changed the value before and after, as texts (claimed, offered, paid,
    # currency); null where there is none.
    AMOUNTS_CHANGED = "amounts_changed"
    # An automation reminded the company: `number` and `of`, or `last` (true) where the ticket is
    # declined without an answer. What the company reads is a comment.
    REMINDED = "reminded"
    # An automation told leads that the ticket is about to be late: `due`.
    ESCALATED = "escalated"
    # `sha256` of the file.
    EVIDENCE_TAKEN = "evidence_taken"
    # An agent made the claim file: `sha256` of the ZIP and its `language`.
    CLAIM_FILE_TAKEN = "claim_file_taken"


# What companies are shown.
PUBLIC = frozenset({Kind.OPENED, Kind.MOVED})


class TicketChange(StrEnum):
    """What an event says of a ticket (decision N5).

    Where one request does several of these, it is told as the one that comes first here.
    """

    APPEAL_DECIDED = "appeal_decided"
    APPEALED = "appealed"
    OPENED = "opened"
    MOVED = "moved"
    DOCUMENTS_REQUESTED = "documents_requested"
    # A comment that the company reads, and nothing else.
    REPLIED = "replied"


# Which entries companies hear of. All others are between agents, or come with a comment that is
# news by itself.
NEWS = {
    Kind.OPENED: TicketChange.OPENED,
    Kind.MOVED: TicketChange.MOVED,
    Kind.DOCUMENTS_REQUESTED: TicketChange.DOCUMENTS_REQUESTED,
    Kind.APPEALED: TicketChange.APPEALED,
    Kind.APPEAL_DECIDED: TicketChange.APPEAL_DECIDED,
}


# What changes nothing for whoever works the ticket: nobody has to have read it (decision N18).
# Only these may be written by somebody who does not hold the ticket.
SLEEP = frozenset({Kind.SNOOZED, Kind.WOKEN})
QUIET = SLEEP | {
    Kind.UNASSIGNED,
    Kind.EVIDENCE_TAKEN,
    Kind.CLAIM_FILE_TAKEN,
    Kind.RELATED,
    Kind.UNRELATED,
}


class Rule(StrEnum):
    """How an agent was chosen for a ticket, or a ticket for an agent."""

    LEAST_BUSY = "least_busy"
    # Of all unassigned tickets that the agent takes.
    MOST_URGENT = "most_urgent"
    AGENT_CHOICE = "agent_choice"
    LEAD_CHOICE = "lead_choice"
    # Handed over by a colleague.
    COLLEAGUE_CHOICE = "colleague_choice"
    # By replying to it, while nobody had it.
    REPLIED = "replied"
    # By opening it for a caller.
    CALLER = "caller"


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
