"""Due dates of answers and decisions: their laws, and mistakes of other desks."""

from datetime import UTC, date, datetime, time, timedelta
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tickets.test_calendars import LUNCH, WEEK, calendars, instants, zones
from tickets.sla.calendars import BusinessHours, add_business_time, business_time_between
from tickets.sla.clocks import (
    ClockState,
    Due,
    Move,
    Promise,
    compute_due,
    filing_state,
    first_response,
    next_promise,
    resolution,
)
from tickets.statuses import PAUSED, RUNNING, TERMINAL, Status

MANY = settings(max_examples=100)
PENDING, ACCEPTED, INCOMPLETE = Status.PENDING, Status.ACCEPTED, Status.INCOMPLETE
FOLLOW_UP, IN_REVIEW = Status.FOLLOW_UP, Status.IN_REVIEW
HOUR = timedelta(hours=1)
# One business day to answer, five to decide.
PROMISE = Promise(WEEK, timedelta(hours=9), timedelta(hours=45))


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """Return a time in March 2026, whose second is a Monday."""
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


@st.composite
def lives(draw: st.DrawFn) -> list[Move]:
    """Draw an opening and some moves, each later than the previous one."""
    when = draw(instants)
    moves = [Move(PENDING, when)]
    for _ in range(draw(st.integers(0, 6))):
        when += draw(st.timedeltas(timedelta(seconds=1), timedelta(days=9)))
        others = [status for status in Status if status != moves[-1].status]
        moves.append(Move(draw(st.sampled_from(others)), when))
    return moves


promises = st.builds(
    Promise,
    calendars,
    st.timedeltas(timedelta(), timedelta(hours=4)),
    st.timedeltas(timedelta(), timedelta(hours=10)),
)


@MANY
@given(calendars, instants, st.data())
def test_a_pause_shifts_a_deadline_by_exactly_its_business_time(
    calendar: BusinessHours, opened: datetime, data: st.DataObject
) -> None:
    promise = Promise(calendar, HOUR, 10 * HOUR)
    before = compute_due([Move(PENDING, opened)], opened, promise).resolution
    paused = opened + data.draw(
        st.timedeltas(timedelta(), before - opened - timedelta(microseconds=1))
    )
    resumed = paused + data.draw(st.timedeltas(timedelta(), timedelta(days=20)))

    moves = [Move(PENDING, opened), Move(INCOMPLETE, paused), Move(FOLLOW_UP, resumed)]
    after = compute_due(moves, paused, promise)

    assert after.resolution == add_business_time(
        calendar, before, business_time_between(calendar, paused, resumed)
    )
    assert after.next == after.resolution
    assert compute_due(moves[:2], paused, promise).next is None


@MANY
@given(lives(), promises, st.dates(date(2025, 1, 1), date(2027, 12, 31)))
def test_extra_holiday_never_makes_it_due_earlier(
    moves: list[Move], promise: Promise, day: date
) -> None:
    calendar = promise.calendar
    more = BusinessHours(calendar.time_zone, calendar.hours, calendar.holidays | {day})
    fewer = compute_due(moves, None, promise)
    other = compute_due(moves, None, Promise(more, promise.first_response, promise.resolution))

    for before, now in zip(fewer, other, strict=True):
        # A due date missed before the pause may lie after its start now: then it is unknown.
        assert now is None or before is None or now >= before


@MANY
@given(lives(), promises, zones)
def test_it_is_due_at_the_same_instant_in_every_zone(
    moves: list[Move], promise: Promise, viewer: ZoneInfo
) -> None:
    local_moves = [Move(status, when.astimezone(viewer)) for status, when in moves]
    ours, theirs = compute_due(moves, None, promise), compute_due(local_moves, None, promise)

    assert ours == theirs
    ticket = SimpleNamespace(status=moves[-1].status, due_at=ours.next)
    now = moves[-1].at + HOUR
    assert next_promise(ticket, now) == next_promise(ticket, now.astimezone(viewer))


@MANY
@given(lives(), promises)
def test_clock_has_run_for_the_promised_time_at_the_due_date(
    moves: list[Move], promise: Promise
) -> None:
    """Count in reverse: add up how long the clock ran during each stay until then."""
    due = compute_due(moves, None, promise).resolution
    if due is None or moves[-1].status in TERMINAL:
        return
    ends = [*(move.at for move in moves[1:]), due]
    ran = sum(
        (
            business_time_between(promise.calendar, move.at, min(end, due))
            for move, end in zip(moves, ends, strict=True)
            if move.status in RUNNING
        ),
        timedelta(),
    )
    assert ran == promise.resolution


@MANY
@given(lives(), promises)
def test_only_a_running_ticket_is_due(moves: list[Move], promise: Promise) -> None:
    dues = compute_due(moves, None, promise)

    assert (dues.next is not None) == (moves[-1].status in RUNNING)
    if dues.next:
        assert dues.next == min(dues.first_response or dues.resolution, dues.resolution)


@MANY
@given(lives(), promises, st.timedeltas(timedelta(), timedelta(hours=9)))
def test_longer_promise_is_never_due_earlier(
    moves: list[Move], promise: Promise, more: timedelta
) -> None:
    longer = Promise(promise.calendar, promise.first_response + more, promise.resolution + more)

    for short, long in zip(
        compute_due(moves, None, promise), compute_due(moves, None, longer), strict=True
    ):
        assert short is None or long is None or long >= short


@pytest.mark.parametrize("status", sorted(RUNNING))
def test_clock_runs_while_the_ticket_waits_for_us(status: Status) -> None:
    moves = [Move(PENDING, at(2, 9)), Move(status, at(2, 12))]

    assert compute_due(moves, at(2, 10), PROMISE) == Due(at(2, 18), at(6, 18), at(6, 18))


def test_the_first_answer_is_awaited_first() -> None:
    assert compute_due([Move(PENDING, at(2, 10))], None, PROMISE) == Due(
        at(3, 10), at(9, 10), at(3, 10)
    )


# Mistakes of other desks.


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/Los_Angeles"])
def test_the_badge_is_right_in_another_zone(zone: str) -> None:
    ticket = clocked(due_at=at(2, 12))

    def state(*when: int) -> ClockState:
        return next_promise(ticket, at(*when).astimezone(ZoneInfo(zone)))

    assert [
        state(2, 9),
        state(2, 10),
        state(2, 11, 59),
        state(2, 12),
        state(3, 1),
    ] == [
        ClockState.RUNNING,
        ClockState.SOON,
        ClockState.SOON,
        ClockState.OVERDUE,
        ClockState.OVERDUE,
    ]


def test_a_decision_out_of_a_pause_keeps_the_time_of_the_pause() -> None:
    paused = [Move(PENDING, at(2, 9)), Move(INCOMPLETE, at(3, 9))]
    decided = compute_due([*paused, Move(ACCEPTED, at(23, 9))], at(3, 9), PROMISE)

    # One business day of five had run; four are left from the day of the decision.
    assert decided == Due(at(2, 18), at(26, 18), None)
    ticket = clocked(
        status=ACCEPTED, resolution_due_at=decided.resolution, decided_at=at(23, 9), due_at=None
    )
    assert resolution(ticket, at(31, 9)) == ClockState.DONE


def test_a_pause_counts_in_business_time_and_not_in_hours() -> None:
    # A pause from Friday noon to Monday noon is one business day, not three days.
    moves = [Move(PENDING, at(6, 9)), Move(INCOMPLETE, at(6, 12)), Move(FOLLOW_UP, at(9, 12))]
    undisturbed = compute_due(moves[:1], None, PROMISE).resolution

    assert undisturbed == at(12, 18)
    assert compute_due(moves, at(6, 12), PROMISE).resolution == at(13, 18)


def test_a_ticket_opened_on_a_holiday_starts_with_the_next_working_day() -> None:
    closed = BusinessHours("UTC", WEEK.hours, frozenset({date(2026, 3, 2)}))
    promise = Promise(closed, 9 * HOUR, 45 * HOUR)

    dues = compute_due([Move(PENDING, at(2, 11))], None, promise)

    assert dues == Due(at(3, 18), at(9, 18), at(3, 18))
    assert dues == compute_due([Move(PENDING, at(3, 9))], None, promise)


def test_a_late_first_answer_stays_late() -> None:
    moves = [Move(PENDING, at(2, 9))]
    waiting, answered = compute_due(moves, None, PROMISE), compute_due(moves, at(4, 9), PROMISE)

    assert waiting.first_response == answered.first_response == at(2, 18)
    assert answered.next == answered.resolution
    ticket = clocked(first_response_due_at=answered.first_response, first_responded_at=at(4, 9))
    assert first_response(ticket, at(4, 9)) == ClockState.DONE_LATE
    # It stays late through a pause, a decision and a reopening.
    later = [
        Move(INCOMPLETE, at(5, 9)),
        Move(FOLLOW_UP, at(9, 9)),
        Move(ACCEPTED, at(10, 9)),
        Move(IN_REVIEW, at(11, 9)),
    ]
    for number in range(len(later) + 1):
        assert compute_due(moves + later[:number], at(4, 9), PROMISE).first_response == at(2, 18)


def test_a_missed_decision_stays_missed_over_a_pause() -> None:
    moves = [Move(PENDING, at(2, 9)), Move(INCOMPLETE, at(16, 9)), Move(FOLLOW_UP, at(30, 9))]

    assert compute_due(moves[:2], at(2, 10), PROMISE) == Due(at(2, 18), at(6, 18), None)
    assert compute_due(moves, at(2, 10), PROMISE).next == at(6, 18)


def test_a_lunch_break_is_possible() -> None:
    promise = Promise(LUNCH, 4 * HOUR, 8 * HOUR)
    opened = datetime(2026, 3, 4, 11, tzinfo=ZoneInfo("Europe/Madrid"))

    assert compute_due([Move(PENDING, opened)], None, promise) == Due(
        opened + 5 * HOUR, opened + 24 * HOUR, opened + 5 * HOUR
    )


def test_ticket_answered_in_time_is_not_overdue() -> None:
    dues = compute_due([Move(PENDING, at(2, 9))], at(2, 10), PROMISE)
    ticket = clocked(
        due_at=dues.next, first_response_due_at=dues.first_response, first_responded_at=at(2, 10)
    )

    assert dues.next == at(6, 18)
    assert next_promise(ticket, at(3, 12)) == ClockState.RUNNING
    assert first_response(ticket, at(3, 12)) == ClockState.DONE


def test_reopened_ticket_continues_its_clock() -> None:
    moves = [Move(PENDING, at(2, 9)), Move(ACCEPTED, at(4, 9)), Move(IN_REVIEW, at(24, 9))]

    assert compute_due(moves[:2], at(4, 9), PROMISE) == Due(at(2, 18), at(6, 18), None)
    # Two of five business days had run.
    assert compute_due(moves, at(4, 9), PROMISE) == Due(at(2, 18), at(26, 18), at(26, 18))


def test_a_pause_over_the_change_of_the_clocks_is_as_long_as_the_hours_worked() -> None:
    promise = Promise(LUNCH, 4 * HOUR, 16 * HOUR)
    there = ZoneInfo("Europe/Madrid")
    friday, monday = datetime(2026, 3, 27, 9, tzinfo=there), datetime(2026, 3, 30, 9, tzinfo=there)

    moves = [Move(PENDING, friday), Move(INCOMPLETE, friday), Move(FOLLOW_UP, monday)]

    assert compute_due(moves, friday, promise).resolution == datetime(2026, 3, 31, 18, tzinfo=there)


def clocked(**changes: Any) -> SimpleNamespace:
    names = ("due_at", "first_response_due_at", "first_responded_at", "resolution_due_at")
    names += ("filing_due_at",)
    return SimpleNamespace(
        **{"status": PENDING, "decided_at": None, **dict.fromkeys(names), **changes}
    )


@pytest.mark.parametrize("status", list(Status))
def test_ticket_without_target_is_never_late(status: Status) -> None:
    ticket = clocked(status=status)

    for clock in (next_promise, first_response, resolution):
        assert clock(ticket, at(2, 9)) == (
            ClockState.PAUSED if status in PAUSED else ClockState.NONE
        )


def test_claim_deadline_ignores_pauses() -> None:
    ticket = clocked(status=INCOMPLETE, filing_due_at=at(12, 9))

    assert [filing_state(ticket, at(day, 9)) for day in (8, 9, 11, 12)] == [
        ClockState.RUNNING,
        ClockState.SOON,
        ClockState.SOON,
        ClockState.OVERDUE,
    ]


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_a_decided_ticket_is_not_overdue(status: Status) -> None:
    assert next_promise(clocked(status=status, due_at=at(1, 9)), at(2, 9)) == ClockState.NONE


def test_the_working_hours_may_end_at_midnight() -> None:
    late = BusinessHours("UTC", tuple(hours._replace(ends=time()) for hours in WEEK.hours))

    assert compute_due([Move(PENDING, at(2, 23))], None, Promise(late, HOUR, HOUR)).next == at(3, 0)


def test_decision_without_a_reply_answers_the_first_response() -> None:
    ticket = SimpleNamespace(
        status=ACCEPTED,
        first_response_due_at=at(3, 10),
        first_responded_at=None,
        decided_at=at(3, 9),
    )
    assert first_response(ticket, at(9, 9)) is ClockState.DONE
    ticket.decided_at = at(3, 11)
    assert first_response(ticket, at(9, 9)) is ClockState.DONE_LATE
    ticket.first_responded_at = at(3, 8)
    assert first_response(ticket, at(9, 9)) is ClockState.DONE
