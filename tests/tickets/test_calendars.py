"""Business time, checked against a count of every minute and by its laws."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickets.sla.calendars import (
    BadCalendar,
    BusinessHours,
    Hours,
    TooFar,
    add_business_time,
    business_time_between,
)

MANY = settings(max_examples=100)
FROM, TO = date(2025, 1, 1), date(2027, 12, 31)
# Zones with a change at midnight or of half an hour, odd offsets, and a skipped day.
ZONES = [
    "UTC",
    "Europe/Madrid",
    "America/New_York",
    "America/Mexico_City",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/Havana",
    "Africa/Cairo",
    "Pacific/Apia",
    "America/St_Johns",
]
MINUTE = timedelta(minutes=1)


@st.composite
def hours_of_a_week(draw: st.DrawFn) -> tuple[Hours, ...]:
    """Draw one or more intervals of at least twenty minutes."""
    hours = []
    for weekday in draw(st.sets(st.integers(0, 6), min_size=1)):
        number = 2 * draw(st.integers(1, 3))
        bounds = draw(st.lists(st.integers(0, 72), min_size=number, max_size=number, unique=True))
        bounds.sort()
        for start, end in zip(bounds[::2], bounds[1::2], strict=True):
            hours.append(Hours(weekday, at_minute(20 * start), at_minute(20 * end % 1440)))
    return tuple(hours)


def at_minute(minute: int) -> time:
    return time(minute // 60, minute % 60)


calendars = st.builds(
    BusinessHours,
    st.sampled_from(ZONES),
    hours_of_a_week(),
    st.frozensets(st.dates(FROM, TO), max_size=20),
)
instants = st.datetimes(
    datetime(2025, 2, 1),  # noqa: DTZ001
    datetime(2027, 6, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
durations = st.timedeltas(timedelta(), timedelta(hours=12))
zones = st.sampled_from(ZONES).map(ZoneInfo)

WEEK = BusinessHours("UTC", tuple(Hours(day, time(9), time(18)) for day in range(5)))
LUNCH = BusinessHours(
    "Europe/Madrid",
    tuple(
        Hours(day, time(start), time(end)) for day in range(5) for start, end in ((9, 13), (14, 18))
    ),
)


@MANY
@given(calendars, instants, durations)
def test_added_business_time_has_passed(
    calendar: BusinessHours, start: datetime, much: timedelta
) -> None:
    assert business_time_between(calendar, start, add_business_time(calendar, start, much)) == much


@MANY
@given(calendars, instants, instants)
def test_passed_business_time_leads_to_the_earliest_instant(
    calendar: BusinessHours, start: datetime, end: datetime
) -> None:
    passed = business_time_between(calendar, start, end)
    result = add_business_time(calendar, start, passed)

    if start <= end:
        assert result <= end
        assert business_time_between(calendar, result, end) == timedelta()
    else:
        assert passed == timedelta()


@MANY
@given(calendars, instants, durations, durations)
def test_business_time_is_added_in_two_parts(
    calendar: BusinessHours, start: datetime, first: timedelta, second: timedelta
) -> None:
    half_way = add_business_time(calendar, start, first)

    assert add_business_time(calendar, half_way, second) == add_business_time(
        calendar, start, first + second
    )


@MANY
@given(calendars, instants, instants, instants)
def test_business_time_is_measured_in_two_parts(
    calendar: BusinessHours, a: datetime, b: datetime, c: datetime
) -> None:
    a, b, c = sorted([a, b, c])

    assert business_time_between(calendar, a, b) + business_time_between(
        calendar, b, c
    ) == business_time_between(calendar, a, c)
    assert timedelta() <= business_time_between(calendar, a, b) <= b - a


@MANY
@given(calendars, instants, durations, durations, durations)
def test_later_starts_and_longer_times_never_end_earlier(
    calendar: BusinessHours, start: datetime, later: timedelta, much: timedelta, more: timedelta
) -> None:
    end = add_business_time(calendar, start, much)

    assert end >= start + much
    assert add_business_time(calendar, start + later, much) >= end or much == timedelta()
    assert add_business_time(calendar, start, much + more) >= end


@MANY
@given(calendars, instants, durations, st.dates(FROM, TO))
def test_extra_holiday_never_makes_a_deadline_earlier(
    calendar: BusinessHours, start: datetime, much: timedelta, day: date
) -> None:
    fewer = BusinessHours(calendar.time_zone, calendar.hours, calendar.holidays | {day})

    assert add_business_time(fewer, start, much) >= add_business_time(calendar, start, much)


@MANY
@given(calendars, instants, durations, zones)
def test_it_is_the_same_instant_for_every_viewer(
    calendar: BusinessHours, start: datetime, much: timedelta, viewer: ZoneInfo
) -> None:
    assert add_business_time(calendar, start.astimezone(viewer), much) == add_business_time(
        calendar, start, much
    )


@settings(max_examples=30)
@given(calendars, instants, st.integers(1, 4 * 1440))
def test_agrees_with_looking_at_the_clock_every_minute(
    calendar: BusinessHours, start: datetime, minutes: int
) -> None:
    """Compare minute by minute: these zones change by whole minutes."""
    start = start.replace(second=0, microsecond=0)
    there = ZoneInfo(calendar.time_zone)
    worked = sum(
        at_work(calendar, (start + minute * MINUTE).astimezone(there)) for minute in range(minutes)
    )

    minutes_there = [(start + minute * MINUTE).astimezone(there) for minute in range(minutes)]
    if len({each.utcoffset() for each in minutes_there}) == 1:
        assert business_time_between(calendar, start, start + minutes * MINUTE) == worked * MINUTE


def at_work(calendar: BusinessHours, there: datetime) -> bool:
    return there.date() not in calendar.holidays and any(
        one.weekday == there.weekday()
        and one.starts <= there.time()
        and (there.time() < one.ends or one.ends == time())
        for one in calendar.hours
    )


def madrid(*when: int) -> datetime:
    return datetime(*when, tzinfo=ZoneInfo("Europe/Madrid"))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("start", "minutes", "end"),
    [
        # A lunch break is the gap between two intervals.
        (madrid(2026, 3, 4, 12, 30), 60, madrid(2026, 3, 4, 14, 30)),
        (madrid(2026, 3, 4, 13, 20), 10, madrid(2026, 3, 4, 14, 10)),
        # End at the minute at which work ends, not on the next morning.
        (madrid(2026, 3, 4, 17), 60, madrid(2026, 3, 4, 18)),
        (madrid(2026, 3, 4, 17), 61, madrid(2026, 3, 5, 9, 1)),
        # A weekend, and the night in which the clocks go forward.
        (madrid(2026, 3, 27, 17), 120, madrid(2026, 3, 30, 10)),
        (madrid(2026, 10, 23, 17), 120, madrid(2026, 10, 26, 10)),
        (madrid(2026, 3, 7, 3), 0, madrid(2026, 3, 7, 3)),
    ],
)
def test_counts_hours_on_the_wall_clock(start: datetime, minutes: int, end: datetime) -> None:
    assert add_business_time(LUNCH, start, minutes * MINUTE) == end


def test_a_night_shift_crosses_midnight_in_two_intervals() -> None:
    night = BusinessHours("UTC", (Hours(4, time(22), time()), Hours(5, time(), time(6))))
    friday = datetime(2026, 3, 6, 22, tzinfo=UTC)

    assert add_business_time(night, friday, timedelta(hours=8)) == datetime(
        2026, 3, 7, 6, tzinfo=UTC
    )
    assert add_business_time(night, friday, timedelta(hours=9)) == datetime(
        2026, 3, 13, 23, tzinfo=UTC
    )


@pytest.mark.parametrize(
    ("day", "worked"), [((2026, 3, 29), 5), ((2026, 10, 25), 7), ((2026, 11, 1), 6)]
)
def test_night_of_a_clock_change_has_its_real_length(
    day: tuple[int, int, int], worked: int
) -> None:
    """Count a Sunday from midnight to six, on which the clocks change at two and at three."""
    sundays = BusinessHours("Europe/Madrid", (Hours(6, time(), time(6)),))

    assert business_time_between(sundays, madrid(*day), madrid(*day, 12)) == timedelta(hours=worked)


def test_an_interval_that_the_clocks_skip_is_not_worked() -> None:
    skipped = BusinessHours("Europe/Madrid", (Hours(6, time(2, 15), time(2, 45)),))

    assert business_time_between(skipped, madrid(2026, 3, 29), madrid(2026, 3, 30)) == timedelta()
    assert add_business_time(skipped, madrid(2026, 3, 29), MINUTE) == madrid(2026, 4, 5, 2, 16)


@pytest.mark.parametrize("zone", ["America/St_Johns", "America/Havana", "Pacific/Apia"])
def test_calendar_of_all_hours_counts_all_time(zone: str) -> None:
    """Include changes at midnight and at the end of a month, and a skipped day."""
    always = BusinessHours(zone, tuple(Hours(day, time(), time()) for day in range(7)))
    hour = datetime(2009, 10, 31, 12, tzinfo=UTC)
    for _ in range(40):
        assert business_time_between(always, hour, hour + timedelta(hours=30)) == timedelta(
            hours=30
        )
        hour += timedelta(hours=1)
    year = datetime(2011, 1, 1, tzinfo=UTC), datetime(2012, 2, 1, tzinfo=UTC)
    assert business_time_between(always, *year) == year[1] - year[0]


NINE = Hours(0, time(9), time(18))


@pytest.mark.parametrize(
    ("zone", "hours", "why"),
    [
        ("UTC", (), "without hours"),
        ("Europe/Atlantis", (NINE,), "no time zone 'Europe/Atlantis'"),
        ("", (NINE,), "no time zone"),
        ("../etc/passwd", (NINE,), "no time zone"),
        ("UTC", (Hours(0, time(9), time(9)),), "ends before it starts"),
        ("UTC", (Hours(0, time(22), time(6)),), "ends before it starts"),
        ("UTC", (NINE, Hours(0, time(17, 59), time(19))), "overlap at 17:59"),
        ("UTC", (Hours(0, time(12), time()), NINE), "overlap at 12:00"),
        ("UTC", (NINE, NINE), "overlap at 09:00"),
    ],
)
def test_invalid_calendar_is_refused(zone: str, hours: tuple[Hours, ...], why: str) -> None:
    with pytest.raises(BadCalendar, match=why):
        BusinessHours(zone, hours)


def test_intervals_may_touch() -> None:
    whole = BusinessHours("UTC", (Hours(0, time(), time(12)), Hours(0, time(12), time())))

    monday = datetime(2026, 3, 2, tzinfo=UTC)
    assert business_time_between(whole, monday, monday + timedelta(days=2)) == timedelta(days=1)


def test_year_of_holidays_is_waited_for_and_endless_ones_refused() -> None:
    days = frozenset(date(2026, 1, 1) + timedelta(days=day) for day in range(365))
    start = datetime(2026, 3, 2, 10, tzinfo=UTC)

    closed = BusinessHours(WEEK.time_zone, WEEK.hours, days)
    assert add_business_time(closed, start, MINUTE) == datetime(2027, 1, 1, 9, 1, tzinfo=UTC)
    with pytest.raises(TooFar):
        add_business_time(
            BusinessHours("UTC", (Hours(0, time(9), time(9, 1)),)), start, timedelta(days=365)
        )


def test_an_instant_has_a_time_zone() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        add_business_time(WEEK, datetime(2026, 3, 2), MINUTE)  # noqa: DTZ001
