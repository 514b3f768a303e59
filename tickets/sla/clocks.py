"""When a ticket has to be answered and decided: a pure function of its moves and a target.

The clock runs while it is our turn, pauses while we wait for the company or for others, and stops
with a decision. A ticket that a lead reopens goes on where it stood.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol

from core.values.times import is_plausible
from tickets.sla.calendars import BusinessHours, add_business_time, business_time_between
from tickets.statuses import PAUSED, RUNNING, TERMINAL, TOLD, By, Status

# Marked as soon when so much is left; of a claim to be filed, the days that it takes to gather.
SOON = timedelta(hours=2)
FILING_SOON = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Promise:
    """What a company is promised, in business time of a calendar."""

    calendar: BusinessHours
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


def compute_due(moves: Sequence[Move], answered_at: datetime | None, promise: Promise) -> Due:
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
    moves: Sequence[Move], calendar: BusinessHours, allowed: timedelta, done_at: datetime | None
) -> datetime | None:
    """When the time that ran up to `done_at` uses up what is allowed, or would have; else None."""
    left = allowed
    ends = [move.at for move in moves[1:]]
    for move, end in zip(moves, [*ends, None], strict=True):
        if done_at is not None and (end is None or end >= done_at):
            end = done_at
        if move.status in RUNNING:
            ran = None if end is None else business_time_between(calendar, move.at, end)
            if ran is None or ran >= left:
                return add_business_time(calendar, move.at, left)
            left -= ran
        if end is not None and end == done_at:
            return add_business_time(calendar, done_at, left)
    return None


def answers(by: By, to: Status) -> bool:
    """Is this move an answer by itself? It is when the company is told of it."""
    return by in (By.AGENT, By.LEAD) and to in TOLD


class ClockState(StrEnum):
    """How a clock of a ticket stands."""

    RUNNING = "running"
    SOON = "soon"
    OVERDUE = "overdue"
    PAUSED = "paused"
    DONE = "done"
    DONE_LATE = "done late"
    # Nothing is promised, or nothing is awaited any more.
    NONE = "none"


class Clocked(Protocol):
    status: int
    due_at: datetime | None
    first_response_due_at: datetime | None
    first_responded_at: datetime | None
    resolution_due_at: datetime | None
    filing_due_at: datetime | None
    decided_at: datetime | None


def first_response(ticket: Clocked, now: datetime) -> ClockState:
    """A decision is an answer too."""
    done_at = ticket.first_responded_at or ticket.decided_at
    return clock_state(ticket.first_response_due_at, done_at, now, paused=is_paused(ticket))


def resolution(ticket: Clocked, now: datetime) -> ClockState:
    return clock_state(ticket.resolution_due_at, ticket.decided_at, now, paused=is_paused(ticket))


def next_promise(ticket: Clocked, now: datetime) -> ClockState:
    """The earlier of the two promises that still run."""
    due_at = None if ticket.status in TERMINAL else ticket.due_at
    return clock_state(due_at, None, now, paused=is_paused(ticket))


def filing_state(ticket: Clocked, now: datetime) -> ClockState:
    """The carrier does not wait for the company's documents."""
    return clock_state(ticket.filing_due_at, ticket.decided_at, now, soon=FILING_SOON)


def is_paused(ticket: Clocked) -> bool:
    """Do we wait for somebody else?"""
    return ticket.status in PAUSED


def clock_state(
    due_at: datetime | None,
    done_at: datetime | None,
    now: datetime,
    *,
    paused: bool = False,
    soon: timedelta = SOON,
) -> ClockState:
    """How a clock stands that runs up to `done_at`, if that has come."""
    if done_at is not None and due_at is not None:
        return ClockState.DONE if done_at <= due_at else ClockState.DONE_LATE
    if paused and done_at is None:
        return ClockState.PAUSED
    if due_at is None:
        return ClockState.NONE
    if due_at <= now:
        return ClockState.OVERDUE
    return ClockState.SOON if due_at - now <= soon else ClockState.RUNNING


class Filing(NamedTuple):
    """How long a carrier takes claims: days since it was handed the shipment, or delivered it."""

    days: int
    from_delivery: bool


def filing_due(
    filing: Filing, shipped_at: datetime | None, delivered_at: datetime | None
) -> datetime | None:
    """When the right to claim dies; None while nobody knows since when to count.

    Nobody knows that either where the time cannot be (decision N28) or the days lead beyond time.
    """
    since = delivered_at if filing.from_delivery else shipped_at
    if since is None or not is_plausible(since):
        return None
    try:
        return since + timedelta(days=filing.days)
    except OverflowError:
        return None
