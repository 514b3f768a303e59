"""The time of an event (decision N2)."""

from datetime import UTC, datetime, timedelta

import pytest

from webhooks.envelope import envelope, event_time

NOW = datetime(2026, 1, 31, 12, 0, 0, 123_456, tzinfo=UTC)
IN_MS = NOW.replace(microsecond=123_000)
MS = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("occurred_at", "last", "time"),
    [
        (NOW, None, IN_MS),
        (NOW - timedelta(days=1), None, IN_MS - timedelta(days=1)),
        # Nothing happens in the future.
        (NOW + timedelta(days=1), None, IN_MS),
        (NOW, IN_MS - MS, IN_MS),
        # The second of two events of a shipment is later, by a millisecond at least.
        (NOW, IN_MS, IN_MS + MS),
        (NOW - timedelta(days=1), IN_MS, IN_MS + MS),
    ],
)
def test_is_when_it_happened_and_later_than_the_one_before(
    occurred_at: datetime, last: datetime | None, time: datetime
) -> None:
    assert event_time(occurred_at, NOW, last) == time


def test_is_told_in_utc_to_the_millisecond() -> None:
    body = envelope("surcharge", datetime(2026, 1, 31, 12, tzinfo=UTC), {"a": 1})

    assert body == {"type": "surcharge", "created_at": "2026-01-31T12:00:00.000Z", "data": {"a": 1}}
