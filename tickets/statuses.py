"""Ticket statuses in one table (interface, States).

A status is a row of `Status`. Clocks, queues, moves, keys, words, colours, the API's description
and the tests of the documents read the table; nothing else lists statuses. Pure: no database and
no framework. The decisions are T1 to T3.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum, StrEnum, unique
from typing import TYPE_CHECKING, Self

from core.values.texts import gettext_noop


class By(StrEnum):
    """Actor of a move."""

    COMPANY = "company"
    AGENT = "agent"
    LEAD = "lead"
    SYSTEM = "system"


class Turn(StrEnum):
    """Party that must act next (decision T18); the clock runs only while it is us."""

    # An agent has to act: the ticket counts toward their load.
    OURS = "ours"
    # The company has to reply, which brings the ticket back; until then it needs no agent.
    COMPANY = "company"
    # Somebody who cannot reach this service, such as a carrier, has to act: an agent watches the
    # ticket, and it returns by itself after a silence.
    OTHERS = "others"
    # The ticket is decided: the status is terminal, and its clock has stopped for good.
    NOBODY = "nobody"


class Colour(StrEnum):
    """Colour of badges and of buttons of moves; desk.css has a rule for each."""

    GREY = "grey"
    GREEN = "green"
    RED = "red"
    AMBER = "amber"
    BLUE = "blue"
    VIOLET = "violet"


class From(StrEnum):
    """Set of statuses from which a move is allowed. Staying in a status is not a move."""

    NOWHERE = "nowhere"
    OPEN = "open"
    # Statuses in which we wait for the company, or for others.
    WAITING_FOR_COMPANY = "waiting for the company"
    WAITING_FOR_OTHERS = "waiting for others"
    # Statuses with `follow_up_by_request`.
    FOLLOWED_UP = "followed up"
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMove:
    """Move by which agents bring a ticket into a status."""

    # Labels of the button and of the action on a list, marked with `gettext_noop`.
    verb: str
    action: str
    # Keyboard shortcut that opens the dialog on a ticket's page.
    key: str
    needs_reason: bool = False
    # The company reads the agent's text, so the move counts as an answer to it.
    notifies_company: bool = False
    # The agent may request missing documents, which serve as the reason.
    requests_documents: bool = False
    agents_from: From = From.OPEN
    leads_from: From = From.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Properties of a status."""

    turn: Turn
    # Marked with `gettext_noop`. The slug, which companies read, is derived from the row's name.
    label: str
    colour: Colour
    # A ticket in this status blocks a second one (interface, Errors).
    blocks_duplicate: bool = False
    # The decision is in the company's favour, for the figures.
    accepts: bool = False
    # The company has requested a claim: the ticket is in the queue Claim review.
    requests_claim: bool = False
    # The company may request Follow up, or reach it with a comment.
    follow_up_by_request: bool = False
    follow_up_by_comment: bool = False
    # Statuses from which the company may request this one.
    company_from: From = From.NOWHERE
    # Statuses from which the system moves a silent ticket here.
    system_from: From = From.NOWHERE
    # For Turn.OTHERS: length of the silence after which the ticket returns to In review.
    returns_after: timedelta | None = None
    # Move by which agents bring a ticket here; None if they cannot.
    move: AgentMove | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a row in which a ticket could be stuck for ever."""
        if self.turn is Turn.COMPANY and not self.follow_up_by_request:
            raise ValueError(f"{self.label} waits for the company: set follow_up_by_request=True.")
        explains = self.move is None or (self.move.notifies_company and self.move.needs_reason)
        if self.turn is Turn.COMPANY and not explains:
            raise ValueError(
                f"{self.label} waits for the company, which has to read what for: set"
                " notifies_company=True and needs_reason=True in its move."
            )
        if (self.turn is Turn.OTHERS) != (self.returns_after is not None):
            raise ValueError(f"{self.label}: returns_after belongs to Turn.OTHERS, which needs it.")


@unique
class Status(IntEnum):
    """Table of the statuses. Names are also the slugs; every list has this order."""

    row: Row

    PENDING = (
        1,
        Row(
            turn=Turn.OURS,
            label=gettext_noop("Pending"),
            colour=Colour.GREY,
            blocks_duplicate=True,
            company_from=From.OPEN,
        ),
    )
    ACCEPTED = (
        2,
        Row(
            turn=Turn.NOBODY,
            label=gettext_noop("Accepted"),
            colour=Colour.GREEN,
            accepts=True,
            move=AgentMove(
                verb=gettext_noop("Accept"),
                action=gettext_noop("Accept selected tickets"),
                key="a",
                notifies_company=True,
            ),
        ),
    )
    DECLINED = (
        3,
        Row(
            turn=Turn.NOBODY,
            label=gettext_noop("Declined"),
            colour=Colour.RED,
            blocks_duplicate=True,
            system_from=From.WAITING_FOR_COMPANY,
            move=AgentMove(
                verb=gettext_noop("Decline"),
                action=gettext_noop("Decline selected tickets"),
                key="d",
                needs_reason=True,
                notifies_company=True,
            ),
        ),
    )
    INCOMPLETE = (
        4,
        Row(
            turn=Turn.COMPANY,
            label=gettext_noop("Incomplete"),
            colour=Colour.AMBER,
            follow_up_by_request=True,
            move=AgentMove(
                verb=gettext_noop("Request information"),
                action=gettext_noop("Request information on selected tickets"),
                key="i",
                needs_reason=True,
                notifies_company=True,
                requests_documents=True,
            ),
        ),
    )
    FOLLOW_UP = (
        5,
        Row(
            turn=Turn.OURS,
            label=gettext_noop("Follow up"),
            colour=Colour.VIOLET,
            blocks_duplicate=True,
            company_from=From.FOLLOWED_UP,
        ),
    )
    IN_REVIEW = (
        6,
        Row(
            turn=Turn.OURS,
            label=gettext_noop("In review"),
            colour=Colour.BLUE,
            blocks_duplicate=True,
            follow_up_by_request=True,
            follow_up_by_comment=True,
            system_from=From.WAITING_FOR_OTHERS,
            # A lead may also reopen a decided ticket (decision T3).
            move=AgentMove(
                verb=gettext_noop("Review"),
                action=gettext_noop("Review selected tickets"),
                key="v",
                leads_from=From.ANYWHERE,
            ),
        ),
    )
    CLAIM_IN_REVIEW = (
        10,
        Row(
            turn=Turn.OURS,
            label=gettext_noop("Claim in review"),
            colour=Colour.BLUE,
            requests_claim=True,
            company_from=From.OPEN,
        ),
    )

    if not TYPE_CHECKING:  # type checkers would take `Status(4)` for a call of __new__

        def __new__(cls, id: int, row: Row) -> Self:
            status = int.__new__(cls, id)
            status._value_ = id
            status.row = row
            return status

    @property
    def label(self) -> str:
        """English name for people."""
        return self.row.label

    @property
    def slug(self) -> str:
        """Name in the API."""
        return self.name.lower()


def having(condition: Callable[[Row], object]) -> frozenset[Status]:
    """Return the statuses whose row meets the condition."""
    return frozenset(status for status in Status if condition(status.row))


TERMINAL = having(lambda row: row.turn is Turn.NOBODY)
OPEN = frozenset(Status) - TERMINAL
RUNNING = having(lambda row: row.turn is Turn.OURS)
WAITING_FOR_COMPANY = having(lambda row: row.turn is Turn.COMPANY)
WAITING_FOR_OTHERS = having(lambda row: row.turn is Turn.OTHERS)
PAUSED = WAITING_FOR_COMPANY | WAITING_FOR_OTHERS
BLOCKING = having(lambda row: row.blocks_duplicate)
ACCEPTING = having(lambda row: row.accepts)
CLAIMS = having(lambda row: row.requests_claim)
FOLLOWED_UP = having(lambda row: row.follow_up_by_request)
FOLLOWED_UP_BY_COMMENT = having(lambda row: row.follow_up_by_comment)
# Moves of agents in the order of their buttons.
AGENT_MOVES = {status: move for status in Status if (move := status.row.move) is not None}
NOTIFYING = frozenset(to for to, move in AGENT_MOVES.items() if move.notifies_company)
REQUESTING = frozenset(to for to, move in AGENT_MOVES.items() if move.requests_documents)

SOURCES: dict[From, frozenset[Status]] = {
    From.NOWHERE: frozenset(),
    From.OPEN: OPEN,
    From.WAITING_FOR_COMPANY: WAITING_FOR_COMPANY,
    From.WAITING_FOR_OTHERS: WAITING_FOR_OTHERS,
    From.FOLLOWED_UP: FOLLOWED_UP,
    From.ANYWHERE: frozenset(Status),
}
# Allowed moves by actor: the statuses that each target may be reached from.
MOVES: dict[By, dict[Status, frozenset[Status]]] = {
    By.COMPANY: {
        to: SOURCES[to.row.company_from] for to in Status if to.row.company_from is not From.NOWHERE
    },
    By.AGENT: {to: SOURCES[move.agents_from] for to, move in AGENT_MOVES.items()},
    By.LEAD: {to: SOURCES[move.leads_from] for to, move in AGENT_MOVES.items()},
    By.SYSTEM: {
        to: SOURCES[to.row.system_from] for to in Status if to.row.system_from is not From.NOWHERE
    },
}


def allows(current: Status, target: Status, by: By) -> bool:
    """Return whether `by` may move a ticket from `current` to `target`; staying is not a move."""
    return current != target and current in MOVES[by].get(target, frozenset())


def needs_reason(current: Status, target: Status) -> bool:
    """Return whether an agent must give a reason; reopening always needs one (decision T3)."""
    move = target.row.move
    return current in TERMINAL or (move is not None and move.needs_reason)


def listed(statuses: Iterable[Status]) -> str:
    """Format statuses with their ids: `1 Pending, 5 Follow up`."""
    return ", ".join(f"{status:d} {status.label}" for status in sorted(statuses))


def labels(statuses: Iterable[Status]) -> list[str]:
    """Return labels ordered by id, with terminal statuses last."""
    return [one.label for one in sorted(statuses, key=lambda one: (one in TERMINAL, one))]


def joined(words: Iterable[object], last: str) -> str:
    """Join one or more words: `1, 5 or 10` if `last` is `or`."""
    *first, end = map(str, words)
    return f"{', '.join(first)} {last} {end}" if first else end
