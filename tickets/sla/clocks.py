"""Due dates of a ticket's response and decision, as a pure function of its moves and a target.

The clock runs while it is our turn, pauses while we wait for the company or for others, and stops
with a decision. Reopening a ticket resumes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol

from core.values.times import is_plausible
from tickets.sla.calendars import BusinessHours, add_business_time, business_time_between
from tickets.statuses import NOTIFYING, PAUSED, RUNNING, TERMINAL, By, Status

# Time before a due date from which it is shown as soon. A claim takes days to gather its documents.
SOON = timedelta(hours=2)
FILING_SOON = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Promise:
    """SLA target of a company, in business time of a calendar."""

    calendar: BusinessHours
    first_response: timedelta
    resolution: timedelta


class Move(NamedTuple):
    """Status that a ticket was moved to, and when; the first is its opening."""

    status: Status
    at: datetime


class Due(NamedTuple):
    """Due dates of response and decision, and the earlier of those that still run."""

    first_response: datetime | None
    resolution: datetime | None
    next: datetime | None


NEVER = Due(None, None, None)


def compute_due(moves: Sequence[Move], answered_at: datetime | None, promise: Promise) -> Due:
    """Compute the due dates after these moves, in their order. Raises TooFar.

    A missed due date stays in the past, so that a late answer remains late. While the clock is
    paused the due date of the decision is unknown; after a decision it is when it would have been.
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
    """Return when a clock that stops at `done_at` reaches `allowed`; None while it is paused."""
    remaining = allowed
    ends = [move.at for move in moves[1:]]
    for move, end in zip(moves, [*ends, None], strict=True):
        if done_at is not None and (end is None or end >= done_at):
            end = done_at
        if move.status in RUNNING:
            ran = None if end is None else business_time_between(calendar, move.at, end)
            if ran is None or ran >= remaining:
                return add_business_time(calendar, move.at, remaining)
            remaining -= ran
        if end is not None and end == done_at:
            return add_business_time(calendar, done_at, remaining)
    return None


def answers(by: By, to: Status) -> bool:
    """Return whether a move counts as an answer, which it does if it notifies the company."""
    return by in (By.AGENT, By.LEAD) and to in NOTIFYING


class ClockState(StrEnum):
    """State of a ticket's clock."""

    RUNNING = "running"
    SOON = "soon"
    OVERDUE = "overdue"
    PAUSED = "paused"
    DONE = "done"
    DONE_LATE = "done late"
    # There is no target, or the clock has stopped.
    NONE = "none"


class TicketTimes(Protocol):
    status: int
    due_at: datetime | None
    first_response_due_at: datetime | None
    first_responded_at: datetime | None
    resolution_due_at: datetime | None
    filing_due_at: datetime | None
    decided_at: datetime | None


def first_response(ticket: TicketTimes, now: datetime) -> ClockState:
    """Return the state of the response; a decision counts as one."""
    done_at = ticket.first_responded_at or ticket.decided_at
    return clock_state(ticket.first_response_due_at, done_at, now, paused=is_paused(ticket))


def resolution(ticket: TicketTimes, now: datetime) -> ClockState:
    return clock_state(ticket.resolution_due_at, ticket.decided_at, now, paused=is_paused(ticket))


def next_promise(ticket: TicketTimes, now: datetime) -> ClockState:
    """Return the state of the earlier of the two due dates that still run."""
    due_at = None if ticket.status in TERMINAL else ticket.due_at
    return clock_state(due_at, None, now, paused=is_paused(ticket))


def filing_state(ticket: TicketTimes, now: datetime) -> ClockState:
    """Return the state of the claim deadline, which does not pause while others have to act."""
    return clock_state(ticket.filing_due_at, ticket.decided_at, now, soon=FILING_SOON)


def is_paused(ticket: TicketTimes) -> bool:
    """Return whether somebody else has to act."""
    return ticket.status in PAUSED


def clock_state(
    due_at: datetime | None,
    done_at: datetime | None,
    now: datetime,
    *,
    paused: bool = False,
    soon: timedelta = SOON,
) -> ClockState:
    """Return the state of a clock; `done_at` is when it stopped, or None."""
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
    """Days in which a carrier accepts claims, since it was handed the shipment or delivered it."""

    days: int
    from_delivery: bool


def filing_due(
    filing: Filing, shipped_at: datetime | None, delivered_at: datetime | None
) -> datetime | None:
    """Return the claim deadline; None if its start is unknown or implausible (decision N28).

    Also None if it is beyond the latest datetime.
    """
    since = delivered_at if filing.from_delivery else shipped_at
    if since is None or not is_plausible(since):
        return None
    try:
        return since + timedelta(days=filing.days)
    except OverflowError:
        return None
