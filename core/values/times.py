"""Times from clients and the feed: parsing, conversion to UTC, and rounding of waits. Pure."""

import math
from datetime import UTC, datetime, timedelta

# PostgreSQL accepts offsets below 16 hours. No time zone has more than 14.
OFFSET_LIMIT = timedelta(hours=16)

# Range of times at which something can have happened to a parcel (decision N28).
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=1)


def read_time(text: str) -> datetime:
    """Return the ISO 8601 time in UTC; one without an offset is taken to be in UTC.

    Raises ValueError, with a sentence that says what to send instead.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        # A + that is not escaped in an address arrives as a space.
        hint = " In an address write + as %2B." if " " in text[19:] else ""
        message = f"Send a time in ISO 8601, such as 2026-01-31T12:00:00Z.{hint}"
        raise ValueError(message) from None
    if abs(time.utcoffset() or timedelta()) >= OFFSET_LIMIT:
        raise ValueError("Send a UTC offset of less than 16 hours.")
    try:
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("Send a time in the years 1 to 9999.") from None


def whole_seconds(wait: float | timedelta) -> int:
    """Round a wait up to whole seconds, at least 1, as Retry-After says it.

    Rounded down, a client that obeys would come too early and be refused once more.
    """
    seconds = wait.total_seconds() if isinstance(wait, timedelta) else wait
    return max(1, math.ceil(seconds))


def is_plausible(time: datetime) -> bool:
    """Return whether a time lies between EARLIEST and AHEAD of now."""
    return EARLIEST <= time <= datetime.now(UTC) + AHEAD
