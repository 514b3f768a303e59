"""Arithmetic with business time of a calendar. No database access.

Instants are aware datetimes in any time zone, results are in UTC. Business time is elapsed time
within working hours: a night shift is an hour longer when the clocks go back.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

NO_TIME = timedelta()
DAY = timedelta(days=1)
MIDNIGHT = time()
# Limit of the search; a target that ends later than this has a wrong calendar.
FARTHEST_MONTHS = 50 * 12


class BadCalendar(ValueError):
    """Invalid calendar; the message says why."""


class TooFar(ValueError):
    """Error for a duration of more than fifty years of the calendar."""


class Hours(NamedTuple):
    """Interval of a weekday (Monday is 0); `ends` at 00:00 is the end of the day."""

    weekday: int
    starts: time
    ends: time


@dataclass(frozen=True, slots=True)
class BusinessHours:
    """Working hours and holidays in the local time of a zone. Raises BadCalendar."""

    time_zone: str
    hours: tuple[Hours, ...]
    holidays: frozenset[date] = frozenset()
    # Cache of computed months: one takes a quarter of a millisecond.
    months: dict[int, "Month"] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        zone(self.time_zone)
        if not self.hours:
            raise BadCalendar("A calendar without hours never ends a wait.")
        refuse_impossible(self.hours)


def zone(name: str) -> ZoneInfo:
    """Return the time zone of this name. Raises BadCalendar."""
    try:
        return ZoneInfo(name)
    except (ValueError, LookupError, OSError) as error:
        raise BadCalendar(f"There is no time zone {name!r}.") from error


def refuse_impossible(hours: tuple[Hours, ...]) -> None:
    """Raise BadCalendar if an interval ends before it starts, or overlaps another."""
    for one in hours:
        if MIDNIGHT != one.ends <= one.starts:
            raise BadCalendar(f"{one.starts:%H:%M} to {one.ends:%H:%M} ends before it starts.")
    for one, following in pairwise(sorted(hours)):
        overlap = one.ends == MIDNIGHT or following.starts < one.ends
        if one.weekday == following.weekday and overlap:
            raise BadCalendar(f"Two intervals of a day overlap at {following.starts:%H:%M}.")


def add_business_time(calendar: BusinessHours, start: datetime, duration: timedelta) -> datetime:
    """Return the first instant at which `duration` of business time has passed since `start`.

    Raises TooFar.
    """
    if duration <= NO_TIME:
        return utc(start)
    first, passed = business_time_in_month(calendar, start)
    remaining = passed + duration
    for index in range(first, first + FARTHEST_MONTHS):
        month = month_of(calendar, index)
        if remaining <= month.total:
            position = bisect_left(month.passed, remaining)
            return month.ends[position] - (month.passed[position] - remaining)
        remaining -= month.total
    raise TooFar(f"{duration} of business time takes more than fifty years.")


def business_time_between(calendar: BusinessHours, start: datetime, end: datetime) -> timedelta:
    """Return the business time from `start` to `end`; zero if `end` is not later."""
    if utc(end) <= utc(start):
        return NO_TIME
    first, before = business_time_in_month(calendar, start)
    last, passed = business_time_in_month(calendar, end)
    whole = sum((month_of(calendar, index).total for index in range(first, last)), NO_TIME)
    return whole + passed - before


class Month(NamedTuple):
    """Working intervals of the local days of a month, as instants in order."""

    starts: list[datetime]
    ends: list[datetime]
    # Cumulative business time of the month at the end of each interval.
    passed: list[timedelta]
    total: timedelta

    def passed_by(self, instant: datetime) -> timedelta:
        position = bisect_right(self.starts, instant) - 1
        if position < 0:
            return NO_TIME
        return self.passed[position] - max(self.ends[position] - instant, NO_TIME)


def business_time_in_month(calendar: BusinessHours, instant: datetime) -> tuple[int, timedelta]:
    """Return a month that has begun in every zone, and the business time since its beginning."""
    instant = utc(instant)
    # Go back two days, as local days differ from those of UTC by up to 14 hours.
    then = instant - 2 * DAY
    index = then.year * 12 + then.month - 1
    months = month_of(calendar, index), month_of(calendar, index + 1)
    return index, months[0].passed_by(instant) + months[1].passed_by(instant)


def month_of(calendar: BusinessHours, index: int) -> Month:
    month = calendar.months.get(index)
    if month is None:
        month = calendar.months[index] = compute_month(calendar, index)
    return month


def compute_month(calendar: BusinessHours, index: int) -> Month:
    there = zone(calendar.time_zone)
    month = Month([], [], [], NO_TIME)
    total = NO_TIME
    hours = sorted(calendar.hours)
    for day in days(index):
        if day in calendar.holidays:
            continue
        for one in hours:
            if one.weekday == day.weekday():
                until = day if one.ends != MIDNIGHT else day + DAY
                starts = first_instant(there, datetime.combine(day, one.starts))
                ends = first_instant(there, datetime.combine(until, one.ends))
                total += ends - starts
                month.starts.append(starts)
                month.ends.append(ends)
                month.passed.append(total)
    return month._replace(total=total)


def days(index: int) -> Iterator[date]:
    day = date(index // 12, index % 12 + 1, 1)
    month = day.month
    while day.month == month:
        yield day
        day += DAY


def first_instant(there: ZoneInfo, wall: datetime) -> datetime:
    """Return the first instant at which the local clock shows this time or a later one.

    Adjacent intervals of local time are therefore adjacent in real time, and none has a negative
    length, even if the clock skips the time or shows it twice.
    """
    instant = wall.replace(tzinfo=there).astimezone(UTC)
    if wall_clock_at(there, instant) == wall:
        return instant
    # The clock skips the time: find the transition between the instants by either offset.
    early, late = wall.replace(tzinfo=there, fold=1).astimezone(UTC), instant
    while (seconds := int((late - early).total_seconds())) > 1:
        middle = early + timedelta(seconds=seconds // 2)
        early, late = (middle, late) if wall_clock_at(there, middle) < wall else (early, middle)
    return late


def wall_clock_at(there: ZoneInfo, instant: datetime) -> datetime:
    return instant.astimezone(there).replace(tzinfo=None)


def utc(instant: datetime) -> datetime:
    if instant.tzinfo is UTC:
        return instant
    if instant.tzinfo is None:
        raise ValueError(f"{instant} is no instant: it has no time zone.")
    return instant.astimezone(UTC)
