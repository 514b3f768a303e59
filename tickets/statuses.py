"""Ticket statuses: one table, and what follows from it (interface, States).

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
    """Who makes a move."""

    COMPANY = "company"
    AGENT = "agent"
    LEAD = "lead"
    SYSTEM = "system"


class Turn(StrEnum):
    """Whose turn it is (decision T18). The clock runs while it is ours, and stops for good."""

    # We have to act. The ticket counts as load of its agent.
    OURS = "ours"
    # We wait for the company, whose reply brings the ticket back: until then it needs no agent.
    COMPANY = "company"
    # We wait for somebody whom this service does not hear, such as a carrier: an agent looks after
    # the ticket, and silence brings it back.
    OTHERS = "others"
    # The ticket is decided: the status is terminal.
    NOBODY = "nobody"


class Colour(StrEnum):
    """The colour of badges and of the buttons of moves; desk.css has a rule for each."""

    GREY = "grey"
    GREEN = "green"
    RED = "red"
    AMBER = "amber"
    BLUE = "blue"
    VIOLET = "violet"


class From(StrEnum):
    """From which statuses a move may be made. To stay where the ticket is is no move."""

    NOWHERE = "nowhere"
    OPEN = "open"
    # Where we wait for the company, or for others.
    WAITING_FOR_COMPANY = "waiting for the company"
    WAITING_FOR_OTHERS = "waiting for others"
    # Those with `follow_up_by_request`.
    FOLLOWED_UP = "followed up"
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMove:
    """How agents bring a ticket into a status."""

    # The button, and the action over a list. Both marked with `gettext_noop`.
    verb: str
    action: str
    # The letter that opens its dialog on a ticket's page.
    key: str
    needs_reason: bool = False
    # The company reads what the agent writes with it, which so is an answer to the company.
    tells_company: bool = False
    # The agent may name documents that are missing. They are a reason of their own.
    asks_for_documents: bool = False
    agents_from: From = From.OPEN
    leads_from: From = From.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All that depends on a ticket's status."""

    turn: Turn
    # Marked with `gettext_noop`. The slug, which companies read, follows from the row's name.
    label: str
    colour: Colour
    # A ticket in it stands in the way of a second one (interface, Errors).
    blocks_duplicate: bool = False
    # A decision in the company's favour, for the figures.
    accepts: bool = False
    # The company has asked for a claim: the ticket is in the queue Claim review.
    requests_claim: bool = False
    # The company may answer with Follow up, or with a comment that leads there by itself.
    follow_up_by_request: bool = False
    follow_up_by_comment: bool = False
    # From where the company may ask for it.
    company_from: From = From.NOWHERE
    # From where the system brings a ticket that stays silent.
    system_from: From = From.NOWHERE
    # Where we wait for others: after how long a silence the ticket goes to In review by itself.
    returns_after: timedelta | None = None
    # How agents bring a ticket there; None where they cannot.
    move: AgentMove | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a row in which a ticket could lie for ever."""
        if self.turn is Turn.COMPANY and not self.follow_up_by_request:
            raise ValueError(f"{self.label} waits for the company: set follow_up_by_request=True.")
        if (self.turn is Turn.OTHERS) != (self.returns_after is not None):
            raise ValueError(f"{self.label}: returns_after belongs to Turn.OTHERS, which needs it.")


@unique
class Status(IntEnum):
    """The table. A name is also the slug; the order is that of every list."""

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
                tells_company=True,
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
                tells_company=True,
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
                tells_company=True,
                asks_for_documents=True,
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
            # A lead may also reopen what was decided (decision T3).
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

    if not TYPE_CHECKING:  # which takes `Status(4)` for a call of this

        def __new__(cls, id: int, row: Row) -> Self:
            status = int.__new__(cls, id)
            status._value_ = id
            status.row = row
            return status

    @property
    def label(self) -> str:
        """The name that people are shown, in English."""
        return self.row.label

    @property
    def slug(self) -> str:
        """The name that companies are shown."""
        return self.name.lower()


def having(condition: Callable[[Row], object]) -> frozenset[Status]:
    """The statuses whose row meets the condition."""
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
# Agents' moves, in the order in which they are offered.
AGENT_MOVES = {status: move for status in Status if (move := status.row.move) is not None}
TOLD = frozenset(to for to, move in AGENT_MOVES.items() if move.tells_company)
ASKING = frozenset(to for to, move in AGENT_MOVES.items() if move.asks_for_documents)

SOURCES: dict[From, frozenset[Status]] = {
    From.NOWHERE: frozenset(),
    From.OPEN: OPEN,
    From.WAITING_FOR_COMPANY: WAITING_FOR_COMPANY,
    From.WAITING_FOR_OTHERS: WAITING_FOR_OTHERS,
    From.FOLLOWED_UP: FOLLOWED_UP,
    From.ANYWHERE: frozenset(Status),
}
# For each actor: where a ticket may be moved, and from which statuses.
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
    """May `by` move a ticket from `current` to `target`? Staying put is no move."""
    return current != target and current in MOVES[by].get(target, frozenset())


def needs_reason(current: Status, target: Status) -> bool:
    """Must an agent say why? The target's row says so; to reopen always (decision T3)."""
    move = target.row.move
    return current in TERMINAL or (move is not None and move.needs_reason)


def listed(statuses: Iterable[Status]) -> str:
    """With their ids: `1 Pending, 5 Follow up`."""
    return ", ".join(f"{status:d} {status.label}" for status in sorted(statuses))


def labels(statuses: Iterable[Status]) -> list[str]:
    """By id, terminal statuses last."""
    return [one.label for one in sorted(statuses, key=lambda one: (one in TERMINAL, one))]


def joined(words: Iterable[object], last: str) -> str:
    """At least one word: `1, 5 or 10` where `last` is `or`."""
    *first, end = map(str, words)
    return f"{', '.join(first)} {last} {end}" if first else end
