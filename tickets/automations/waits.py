"""Waits of automations in working days and hours of the calendars.

A working day is a day with business hours in the calendar, from midnight to midnight: three of
them after Thursday noon is Tuesday noon.
"""

from datetime import datetime, time, timedelta

from tickets.sla import policy
from tickets.sla.calendars import (
    DAY,
    BusinessHours,
    Hours,
    add_business_time,
    business_time_between,
)

# Default calendar for types without an SLA target.
USUAL = BusinessHours("UTC", tuple(Hours(weekday, time(9), time(18)) for weekday in range(5)))
# Precision of `days_ago`.
EXACT = timedelta(seconds=1)


def calendar_of(type_id: int) -> BusinessHours:
    """Return the calendar of the type's target for companies without a plan, else of any plan."""
    rules = policy.current_rules()
    if default := rules.promise("", type_id):
        return default.calendar
    plans = sorted((plan, kind or 0) for plan, kind in rules.promises)
    fitting = [plan for plan, kind in plans if kind in (type_id, 0)]
    promise = rules.promise(fitting[0], type_id) if fitting else None
    return promise.calendar if promise else USUAL


def whole_days(calendar: BusinessHours) -> BusinessHours:
    """Extend each day of the calendar from midnight to midnight."""
    weekdays = sorted({one.weekday for one in calendar.hours})
    hours = tuple(Hours(weekday, time(), time()) for weekday in weekdays)
    return BusinessHours(calendar.time_zone, hours, calendar.holidays)


def after_days(type_id: int, start: datetime, days: int) -> datetime:
    """Return the instant at which this many working days have passed."""
    return add_business_time(whole_days(calendar_of(type_id)), start, days * DAY)


def days_ago(type_id: int, now: datetime, days: int) -> datetime:
    """Return the last instant since which this many working days have passed."""
    calendar, wanted = whole_days(calendar_of(type_id)), days * DAY
    span = wanted + 7 * DAY
    # Extend the search for calendars with long holidays, or with few days a week.
    while business_time_between(calendar, now - span, now) < wanted and span < 3650 * DAY:
        span *= 2
    early, late = now - span, now
    while late - early > EXACT:
        middle = early + (late - early) / 2
        passed = business_time_between(calendar, middle, now) >= wanted
        early, late = (middle, late) if passed else (early, middle)
    return early


def in_hours(type_id: int, now: datetime, hours: int) -> datetime:
    """Return the instant at which this many working hours have passed."""
    return add_business_time(calendar_of(type_id), now, timedelta(hours=hours))
