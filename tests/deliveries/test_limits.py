"""Documented limits as numbers, not through the constants that hold them."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from companies.models import Company
from deliveries import publishing
from deliveries.engine import leases, pausing
from deliveries.engine.lane_book import LaneBook
from deliveries.engine.pace import Pace
from deliveries.engine.schedule import next_wait
from deliveries.engine.slots import Slots
from deliveries.engine.turn import Turn
from deliveries.http.answers import Incoming, retry_after
from deliveries.models import Delivery, Health, Heartbeat
from tests import builders as build
from tests.deliveries.test_slots import lane, start_all
from tests.sending import claim, on_loan


def test_settings_are_as_promised_unless_the_environment_says_otherwise() -> None:
    assert settings.DELIVERY_TIMEOUT_SECONDS == 5.0
    assert settings.DELIVERY_LOOPS == 2
    limits = {"read": 12_000, "write": 6_000, "send": 120, "feed": 600, "upload": 120}
    assert {**limits, "file_seconds": 60, "page": 600} == settings.RATE_LIMITS
    assert settings.MAX_BODY_BYTES == 1_048_576


def test_ten_attempts_take_75_hours() -> None:
    waits = [next_wait(failures, settings.DELIVERY_RETRY_SECONDS, 0) for failures in range(1, 11)]

    assert waits.pop() is None
    assert len(waits) == 9
    assert 75 <= sum(filter(None, waits)) / 3600 < 76


def test_retry_after_counts_up_to_24_hours() -> None:
    now = timezone.now()
    assert retry_after("86400", now) == 86_400
    assert retry_after("86401", now) == 86_400
    assert next_wait(1, [5], 0, 86_401) == 86_400


def test_keeps_16_kib_of_an_answer() -> None:
    incoming = Incoming()
    incoming.begin(None)
    incoming.take_header(b"HTTP/1.1 200 OK\r\n")
    incoming.take_header(b"\r\n")

    assert incoming.take_body(b"x" * 16_384) is None
    assert incoming.take_body(b"x") == 0

    assert incoming.ended(0, "", 0).answer == b"x" * 16_384


def test_a_claim_lasts_30_seconds(company: Company) -> None:
    build.webhook(company)
    publishing.publish([build.news(company)])
    before = timezone.now()

    claim()

    until = Delivery.objects.get().claimed_until
    assert before <= until - timedelta(seconds=30) <= timezone.now()


def test_a_lease_lasts_four_seconds_and_is_renewed_every_second(db: None) -> None:
    before = timezone.now()
    loop = leases.join(1)
    assert before <= Heartbeat.objects.get().lease_until - timedelta(seconds=4) <= timezone.now()

    before = timezone.now()
    leases.renew(loop or "")
    assert before <= Heartbeat.objects.get().lease_until - timedelta(seconds=4) <= timezone.now()
    assert leases.HEARTBEAT_SECONDS == 1


def behind(company: Company, **changes: object) -> tuple[Delivery, timedelta]:
    """Publish two events, the first with `changes`; returns the parked one and its wait."""
    build.webhook(company)
    publishing.publish([build.news(company, 1), build.news(company, 1)])
    head, other = Delivery.objects.order_by("event_id")
    Delivery.objects.filter(pk=head.pk).update(**changes)
    before = timezone.now()
    claim()
    other.refresh_from_db()
    return other, other.due_at - before


def test_waits_at_most_five_minutes_behind_another(company: Company) -> None:
    now = timezone.now()

    _, parked = behind(company, due_at=now + timedelta(minutes=50), first_attempt_at=now)

    assert timedelta(seconds=299) < parked < timedelta(seconds=330)


def test_waits_a_second_behind_what_is_in_flight(company: Company) -> None:
    _, parked = behind(company)

    assert timedelta(seconds=1) <= parked < timedelta(seconds=2)


@pytest.mark.parametrize(("minutes", "blocked"), [(59, True), (61, False)])
def test_holds_a_shipment_for_an_hour(company: Company, minutes: int, blocked: bool) -> None:
    now = timezone.now()

    other, _ = behind(
        company,
        due_at=now + timedelta(hours=5),
        first_attempt_at=now - timedelta(minutes=minutes),
    )

    assert (other.claimed_by is None) is blocked


@pytest.mark.parametrize(("hours", "paused"), [(119, 0), (121, 1)])
def test_pauses_after_five_days(company: Company, hours: int, paused: int) -> None:
    since = timezone.now() - timedelta(hours=hours)
    Health.objects.create(webhook=build.webhook(company), failures=9, failing_since=since)

    assert pausing.pause_failing() == paused


@pytest.mark.parametrize(("hours", "paused"), [(119, 0), (121, 1)])
def test_counts_them_from_when_it_was_resumed(company: Company, hours: int, paused: int) -> None:
    now = timezone.now()
    webhook = build.webhook(company, resumed_at=now - timedelta(hours=hours))
    Health.objects.create(webhook=webhook, failures=9, failing_since=now - timedelta(days=30))

    assert pausing.pause_failing() == paused


@pytest.mark.parametrize(("slow", "most"), [(False, 2048), (True, 1024)])
def test_a_loop_has_2048_slots_and_half_of_them_for_slow_ones(slow: bool, most: int) -> None:
    slots = Slots()
    for webhook_id in range(1, 5_000):
        each = lane(webhook_id, slow=slow)
        slots.hold(each, on_loan(webhook_id))

    assert len(start_all(slots)) == most


def test_a_window_begins_with_two_and_has_bounds() -> None:
    quick, slow = Pace(0.0), Pace(0.0)
    assert quick.limit(0.0) == 2

    for pace, seconds in ((quick, 0.01), (slow, 1.1)):
        for _ in range(5_000):
            pace.start(pace.limit(0.0))
            pace.answered(seconds, True, 0.0)

    assert (quick.limit(0.0), slow.limit(0.0)) == (1024, 16)


def test_a_lane_with_nothing_to_do_is_released_after_two_seconds() -> None:
    book, turn = LaneBook(Slots()), Turn()
    book._lanes[7] = lane(7)
    book._lanes[7].due = False

    book.release_idle(turn, 2.0)
    assert turn.released == []

    book.release_idle(turn, 2.1)
    assert (turn.released, turn.unfinished) == ([7], [])
