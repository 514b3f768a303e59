"""When a ticket has to be answered and decided: a pure function of its moves and a target.

The clock runs while the ball is with us, pauses while the company owes something, and stops with
a decision. A ticket that a lead reopens goes on where it stood.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol

from tickets.calendars import Calendar, add, between
from tickets.statuses import RUNNING, TERMINAL, TOLD, By, Status

SOON = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Promise:
    """What a company is promised, in business time of a calendar."""

    calendar: Calendar
    first_response: timedelta
    resolution: timedelta


class Move(NamedTuple):
    """A status that a ticket came to, and when; the first is its opening."""

    status: Status
    at: datetime


class Due(NamedTuple):
    """Until when to answer, to decide, and the earlier of what still runs."""

    first_response: datetime | None
    resolution: datetime | None
    next: datetime | None


NEVER = Due(None, None, None)


def due(moves: Sequence[Move], answered_at: datetime | None, promise: Promise) -> Due:
    """All three, after these moves in their order. Raises TooFar.

    What was missed stays in the past, whatever follows: a late answer is seen as late. Paused,
    nobody knows when the decision will be due; decided, it says until when it would have been.
    """
    first = deadline(moves, promise.calendar, promise.first_response, answered_at)
    decided_at = moves[-1].at if moves[-1].status in TERMINAL else None
    resolution = deadline(moves, promise.calendar, promise.resolution, decided_at)
    if moves[-1].status not in RUNNING:
        return Due(first, resolution, None)
    awaited = [resolution] if answered_at else [first, resolution]
    return Due(first, resolution, min((at for at in awaited if at), default=None))


def deadline(
    moves: Sequence[Move], calendar: Calendar, allowed: timedelta, done_at: datetime | None
) -> datetime | None:
    """When the time that ran up to `done_at` uses up what is allowed, or would have; else None."""
    left = allowed
    ends = [move.at for move in moves[1:]]
    for move, end in zip(moves, [*ends, None], strict=True):
        if done_at is not None and (end is None or end >= done_at):
            end = done_at
        if move.status in RUNNING:
            ran = None if end is None else between(calendar, move.at, end)
            if ran is None or ran >= left:
                return add(calendar, move.at, left)
            left -= ran
        if end is not None and end == done_at:
            return add(calendar, done_at, left)
    return None


def answers(by: By, to: Status) -> bool:
    """Is this move an answer by itself? It is when the company is told of it."""
    return by in (By.AGENT, By.LEAD) and to in TOLD


class State(StrEnum):
    """What a list shows of a ticket's clock."""

    OVERDUE = "overdue"
    DUE_SOON = "due soon"
    RUNNING = "running"
    PAUSED = "paused"
    NONE = "none"


class Clocked(Protocol):
    status: int
    due_at: datetime | None
    first_response_due_at: datetime | None
    first_responded_at: datetime | None
    resolution_due_at: datetime | None
    decided_at: datetime | None


def state(ticket: Clocked, now: datetime) -> State:
    """How its clock stands; none where it is decided, or nobody has promised anything."""
    if ticket.status == Status.INCOMPLETE:
        return State.PAUSED
    if ticket.status in TERMINAL or ticket.due_at is None:
        return State.NONE
    if ticket.due_at <= now:
        return State.OVERDUE
    return State.DUE_SOON if ticket.due_at - now <= SOON else State.RUNNING


def answered_late(ticket: Clocked, now: datetime) -> bool:
    """Was the first answer late, or is it by now?"""
    return late(ticket.first_response_due_at, ticket.first_responded_at, now)


def decided_late(ticket: Clocked, now: datetime) -> bool:
    """Was the decision late, or is it by now?"""
    return late(ticket.resolution_due_at, ticket.decided_at, now)


def late(due_at: datetime | None, done_at: datetime | None, now: datetime) -> bool:
    return due_at is not None and due_at < (done_at or now)


class Filing(NamedTuple):
    """How long a carrier takes claims: days since it was handed the shipment, or delivered it."""

    days: int
    from_delivery: bool


def filing_due(
    filing: Filing, shipped_at: datetime | None, delivered_at: datetime | None
) -> datetime | None:
    """When the right to claim dies; None while nobody knows since when to count."""
    since = delivered_at if filing.from_delivery else shipped_at
    return since and since + timedelta(days=filing.days)
