"""Ticket statuses and who may move what where: one table, one question (interface, States).

No database here. The decisions are T1 to T3.
"""

from enum import IntEnum, StrEnum


class Status(IntEnum):
    PENDING = 1
    ACCEPTED = 2
    DECLINED = 3
    INCOMPLETE = 4
    FOLLOW_UP = 5
    IN_REVIEW = 6
    CLAIM_IN_REVIEW = 10

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").capitalize()

    @property
    def slug(self) -> str:
        """The name that companies are shown."""
        return self.name.lower()


class By(StrEnum):
    """Who makes a move."""

    COMPANY = "company"
    AGENT = "agent"
    LEAD = "lead"
    SYSTEM = "system"


TERMINAL = frozenset({Status.ACCEPTED, Status.DECLINED})
OPEN = frozenset(Status) - TERMINAL
# A ticket in one of these stands in the way of a second one (interface, Errors).
BLOCKING = frozenset({Status.PENDING, Status.FOLLOW_UP, Status.IN_REVIEW, Status.DECLINED})
# The clock runs, and the agent carries it; Incomplete waits for the company (decision T18).
RUNNING = OPEN - {Status.INCOMPLETE}

MOVES: dict[By, dict[Status, frozenset[Status]]] = {
    By.COMPANY: {
        Status.PENDING: OPEN,
        Status.FOLLOW_UP: frozenset({Status.IN_REVIEW, Status.INCOMPLETE}),
        Status.CLAIM_IN_REVIEW: OPEN,
    },
    By.AGENT: {
        Status.ACCEPTED: OPEN,
        Status.DECLINED: OPEN,
        Status.INCOMPLETE: OPEN,
        Status.IN_REVIEW: OPEN,
    },
}
# A lead may also reopen what was decided (decision T3).
MOVES[By.LEAD] = {**MOVES[By.AGENT], Status.IN_REVIEW: frozenset(Status)}
# What an agent writes with one of these moves is for the company to read (decision T3).
TOLD = frozenset({Status.ACCEPTED, Status.DECLINED, Status.INCOMPLETE})


def allows(current: Status, target: Status, by: By) -> bool:
    """May `by` move a ticket from `current` to `target`? Staying put is no move."""
    return current != target and current in MOVES[by].get(target, frozenset())


def needs_reason(current: Status, target: Status) -> bool:
    """Must an agent say why? To decline, to ask for more, and to reopen (decision T3)."""
    return target in (Status.DECLINED, Status.INCOMPLETE) or current in TERMINAL
