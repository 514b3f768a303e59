"""Fronts of the queues, beside transactions that stay open and events that are committed late."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from companies.models import Company
from companies.services import set_active
from deliveries import publishing, redelivery, statements
from deliveries.engine import claiming, clock, lanes, leases, recording, sharing
from deliveries.engine.fronts import (
    BEGINNING,
    FIRST_WAIT_SECONDS,
    LONG_SECONDS,
    MOST_SLICES,
    SLICE_SECONDS,
    WHOLE_PART,
    Front,
    Fronts,
)
from deliveries.engine.lending import NOTES
from deliveries.engine.turn import ClaimBatch, Turn
from deliveries.engine.turns import Database
from deliveries.models import Delivery, Health, Heartbeat, TakenLane, Wakeup
from deliveries.monitoring import backlog, queue_picture
from deliveries.upkeep import deleted_webhooks
from tests import builders as build
from tests.deliveries.test_recording import result
from tests.sending import pages_read, taking
from tests.waiting import PATIENCE_SECONDS
from webhooks import services
from webhooks.models import Webhook

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def test_looks_begin_at_the_front_and_anew_once_in_a_while() -> None:
    front = Front()
    assert front.start(100.0) == BEGINNING

    front.move(BEGINNING, NOON, seconds=0.002, now=100.0)

    assert front.start(101.9) == NOON
    assert front.start(100.0 + 0.002 * WHOLE_PART) == BEGINNING
    front.move(NOON, None, seconds=5.0, now=101.9)
    assert front.start(101.9) == NOON


def test_a_long_look_comes_again_soon_in_case_the_database_was_slow() -> None:
    front, now, waits = Front(), 0.0, []
    for seconds in (1.0, 1.0, 1.0, 0.001, 1.0, 0.1, 0.1, 0.1):
        front.move(BEGINNING, NOON, seconds, now)
        waits.append(front.wait)
        is_long = seconds > LONG_SECONDS
        assert (front.start(now + front.wait - 0.5), front.walks(now + front.wait - 0.5)) == (
            NOON,
            False,
        )
        now += front.wait
        assert (front.start(now), front.walks(now)) == (NOON if is_long else BEGINNING, is_long)

    assert waits == [300, 600, 1200, 10, 300, 600, 1000, 1000]


class Past:
    """A queue's past, in which a second takes `seconds_each` to read; `due`: what is left in it."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, seconds_each: float = 0.0, *, slow: float = 0.0
    ) -> None:
        self.now, self.seconds_each, self.slow = 0.0, seconds_each, slow
        self.began = NOON - timedelta(minutes=30)
        self.due: list[datetime] = []
        self.slices: list[tuple[datetime, datetime]] = []
        monkeypatch.setattr(clock, "monotonic", lambda: self.now)

    def find(self, since: datetime, until: datetime) -> datetime | None:
        self.slices.append((since, until))
        to_read = max(until - max(since, self.began), timedelta())
        self.now += 0.001 + self.slow + self.seconds_each * to_read.total_seconds()
        return min((each for each in self.due if since <= each < until), default=None)

    def walk(self, front: Front) -> list[float]:
        """Walk to the beginning; returns how long each slice took."""
        took: list[float] = []
        goes_on = True
        while goes_on:
            began = self.now
            goes_on = front.walk(self.find)
            took.append(self.now - began)
        return took


def long_ago(seconds: float = 0.2) -> Front:
    """Return a front at NOON, whose look from the beginning took long and is due again."""
    front = Front()
    front.move(BEGINNING, NOON, seconds, -2 * FIRST_WAIT_SECONDS)
    return front


def test_a_look_that_takes_long_is_taken_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold up events for no longer than a slice, and leave out nothing."""
    front, past = long_ago(), Past(monkeypatch, 0.0002)
    past.due = [NOON - timedelta(minutes=20)]

    took = past.walk(front)

    assert max(took) < 3 * SLICE_SECONDS
    assert len(took) < MOST_SLICES / 2
    ends = [until for _, until in past.slices]
    assert [since for since, _ in past.slices] == [*ends[1:], BEGINNING]
    assert ends[0] == NOON
    assert front.start(past.now) == past.due[0]
    assert not front.walk(past.find)
    assert front.wait == 2 * FIRST_WAIT_SECONDS
    assert front.walks(past.now + front.wait)


def test_a_look_that_no_longer_takes_long_is_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what each slice takes however little it reads."""
    front, past = long_ago(), Past(monkeypatch, slow=0.03)

    past.walk(front)

    assert front.start(past.now + 1) == BEGINNING


def test_slices_come_to_an_end_on_a_machine_that_is_too_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    front, past = long_ago(), Past(monkeypatch, 1.0)

    assert len(past.walk(front)) == MOST_SLICES + 1
    assert past.slices[-1][0] == BEGINNING


def test_a_clock_set_to_the_beginning_of_time_ends_the_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    front = Front()
    front.move(BEGINNING, BEGINNING, 0.2, -2 * FIRST_WAIT_SECONDS)

    assert len(Past(monkeypatch).walk(front)) == 1


def test_a_front_follows_a_clock_that_was_set_back() -> None:
    front = Front()
    front.move(BEGINNING, NOON, seconds=1.0, now=0.0)

    front.move(NOON, NOON - timedelta(hours=1), seconds=1.0, now=0.0)

    assert front.start(1.0) == NOON - timedelta(hours=1)


def test_one_webhook_at_a_time_is_looked_at_anew() -> None:
    """Spread them: a look at all the rows of all webhooks would hold up every event."""
    fronts = Fronts()
    fronts.move(fronts.starts([1, 2, 3], 0.0), dict.fromkeys([1, 2], NOON), 0.001, 0.0)

    assert fronts.starts([1, 2, 3], 60.0) == {1: BEGINNING, 2: NOON, 3: BEGINNING}


def test_a_claim_for_many_new_webhooks_is_not_long_for_each() -> None:
    fronts = Fronts()

    fronts.move(fronts.starts(range(20), 0.0), {}, 10 * LONG_SECONDS, 0.0)

    assert fronts.long() == {}


def test_slices_are_taken_of_one_webhook_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    fronts, past, seen = Fronts(), Past(monkeypatch, 0.0002), []
    fronts.move(fronts.starts([1, 2], -900.0), dict.fromkeys([1, 2], NOON), 0.4, -900.0)

    def find(webhook_id: int, since: datetime, until: datetime) -> datetime | None:
        seen.append(webhook_id)
        return past.find(since, until)

    fronts.walk(find)
    assert seen == []
    for _ in range(200):
        assert fronts.starts([1, 2], past.now) == {1: NOON, 2: NOON}
        fronts.walk(find)
    one = seen.count(1)
    assert seen == one * [1] + one * [2]

    fronts.forget([1])
    past.now += 900.0
    fronts.starts([2], past.now)
    fronts.forget([2])
    fronts.walk(find)
    assert len(seen) == 2 * one


def test_webhooks_are_kept_whose_claim_from_the_beginning_took_long() -> None:
    fronts = Fronts()
    since = {1: NOON, 2: NOON}
    assert fronts.move(fronts.starts([1], 0.0), since, LONG_SECONDS, 0.0) == {}

    keep = fronts.move(fronts.starts([1, 2], 1.0), since, 0.1, 1.0)

    assert keep == {2: FIRST_WAIT_SECONDS}


def test_what_appears_lowers_the_front_of_its_webhook() -> None:
    fronts = Fronts()
    fronts.move(fronts.starts([1, 2], 0.0), dict.fromkeys([1, 2], NOON), 1.0, 0.0)

    fronts.lower([(1, NOON - timedelta(seconds=9)), (2, NOON + timedelta(seconds=9)), (3, NOON)])

    assert fronts.starts([1, 2], 1.0) == {1: NOON - timedelta(seconds=9), 2: NOON}


class Loop:
    """Engine loop without a network, which claims whatever wakes up, from the fronts alone."""

    def __init__(self) -> None:
        self.stops, self.room = False, 8
        self.database = Database(lambda: self.stops)
        self.claimed: list[int] = []

    def look(self) -> list[int]:
        """Look once for wake-ups; returns the shipments of the deliveries claimed."""
        self.claimed = []
        turn = Turn(on_wake=self.rooms, on_claim=self.note, listening=True)
        self.database.take(turn)
        return sorted(self.claimed)

    def rooms(self, woken: Any) -> dict[int, int]:
        return {each.webhook_id: self.room for each in woken}

    def note(self, claims: ClaimBatch) -> None:
        self.last = claims.claimed
        self.claimed += [each.subject_id or 0 for each in claims.claimed]

    def claim(self, webhook: Webhook) -> list[int]:
        """Claim without a wake-up."""
        claims = ClaimBatch({webhook.pk: self.room})
        self.database.loans.claim(claims, str(self.database.loop_id), frozenset())
        self.last = claims.claimed
        return [each.subject_id or 0 for each in claims.claimed]


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    monkeypatch.setattr("deliveries.engine.fronts.WHOLE_PART", 1e9)
    monkeypatch.setattr("deliveries.engine.turns.SETTLE_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(lanes, "SETTLED", lanes.SETTLED.replace("0.25 seconds", "0 seconds"))
    return Loop()


def publish(company: Company, *shipments: int) -> None:
    with transaction.atomic():
        publishing.publish([build.news(company, each) for each in shipments])


@contextmanager
def held_open(act: Callable[[], object]) -> Iterator[None]:
    """Commit an act at the end of the block, in a thread of its own."""
    done, end = Event(), Event()

    def run() -> None:
        try:
            with transaction.atomic():
                act()
                done.set()
                assert end.wait(PATIENCE_SECONDS)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(run)
        assert done.wait(PATIENCE_SECONDS)
        yield
        end.set()
        future.result()


@pytest.mark.django_db(transaction=True)
def test_an_event_that_is_committed_late_is_found_at_once(loop: Loop) -> None:
    company = build.company()
    build.webhook(company)
    publish(company, 1)
    assert loop.look() == [1]

    with held_open(partial(publish, company, 2)):
        for shipment in (3, 4):
            publish(company, shipment)
            assert loop.look() == [shipment]

    assert loop.look() == [2]


def pause(webhook: Webhook) -> Callable[[], object]:
    services.pause(webhook.pk, "")
    return partial(services.resume, webhook.pk)


def rest(webhook: Webhook) -> Callable[[], object]:
    later = timezone.now() + timedelta(hours=1)
    Health.objects.create(webhook=webhook, failures=3, resting_until=later)
    return partial(redelivery.end_rest, webhook.pk, everything=False)


def deactivate(webhook: Webhook) -> Callable[[], object]:
    set_active(webhook.company_id, active=False)
    return partial(set_active, webhook.company_id, active=True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stop", [pause, rest, deactivate])
def test_an_event_is_found_that_is_committed_late_while_nothing_is_sent(
    loop: Loop, stop: Callable[[Webhook], Callable[[], object]]
) -> None:
    """Its own wake-up is dropped, and the one that ends the pause is later."""
    company = build.company()
    webhook = build.webhook(company)
    with held_open(partial(publish, company, 1)):
        publish(company, 2)
        assert loop.look() == [2]
        go_on = stop(webhook)
    assert loop.look() == []

    go_on()

    assert loop.look() == [1]


@pytest.mark.django_db(transaction=True)
def test_what_a_look_has_no_room_for_is_found_by_the_next(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deliveries.engine.turns.WAKEUPS_AT_ONCE", 1)
    company = build.company()
    for _ in range(3):
        build.webhook(company)
    publish(company, 1)

    assert [loop.look() for _ in range(4)] == [[1], [1], [1], []]


@pytest.mark.django_db(transaction=True)
def test_no_wakeup_can_appear_before_what_is_settled(company: Company) -> None:
    build.webhook(company)
    before = lanes.settled()
    with held_open(partial(publish, company, 1)):
        time.sleep(0.6)
        held = lanes.settled()
        assert before <= held
    assert not Wakeup.objects.filter(due_at__lt=held).exists()
    assert lanes.settled() > Wakeup.objects.get().due_at


@pytest.mark.django_db
def test_a_writer_that_has_just_ended_holds_back_nothing() -> None:
    """See its lock, and then no transaction: the two are not read at once."""
    other = connection.copy()
    with closing(other), connection.cursor() as cursor:
        other.ensure_connection()
        cursor.execute(f"""
            CREATE TEMPORARY VIEW pg_locks AS
            SELECT {other.connection.info.backend_pid} AS pid, 'relation' AS locktype,
              'deliveries_wakeup'::regclass AS relation, 'RowExclusiveLock' AS mode, oid AS database
            FROM pg_database WHERE datname = current_database()
        """)  # noqa: S608 - a number

        assert lanes.settled() > timezone.now() - timedelta(minutes=1)


@pytest.mark.django_db(transaction=True)
def test_a_writer_that_does_not_show_itself_holds_back_everything() -> None:
    company = build.company()
    build.webhook(company)

    def publish_hidden() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET track_activities = off")
        publish(company, 1)

    with held_open(publish_hidden):
        assert lanes.settled() < NOON - timedelta(days=9_999)


@pytest.mark.django_db(transaction=True)
def test_deliveries_given_back_are_claimed_again(loop: Loop) -> None:
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1, 2)
    assert loop.look() == [1, 2]
    claimed = loop.last
    assert loop.claim(webhook) == []

    loop.database.loans.give_back(claimed)

    assert loop.claim(webhook) == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_claims_of_a_lost_answer_are_claimed_again(loop: Loop) -> None:
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1, 2)
    loop.look()
    loop.database.loans.ids.clear()

    loop.database.loans.recover(str(loop.database.loop_id))

    assert loop.claim(webhook) == [1, 2]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("how", ["released", "to_transfer"])
def test_a_webhook_that_comes_back_is_looked_at_anew(loop: Loop, how: str) -> None:
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1)
    loop.look()
    assert loop.claim(webhook) == []
    # The claim has ended, and the loop knows it; otherwise it would take the next for the same.
    Delivery.objects.update(claimed_by=None, claimed_until=None)
    loop.database.loans.end(str(loop.database.loop_id), {*loop.database.loans.ids})

    loop.database.take(Turn(**{how: [webhook.pk]}, unfinished=[webhook.pk]))

    assert loop.look() == [1]


@pytest.mark.django_db(transaction=True)
def test_a_full_claim_leaves_the_rest_before_it(loop: Loop) -> None:
    company = build.company()
    webhook = build.webhook(company)
    publish(company, *range(1, 21))

    assert [len(each) for each in (loop.look(), loop.claim(webhook), loop.claim(webhook))] == [
        8,
        8,
        4,
    ]


@pytest.mark.django_db(transaction=True)
def test_a_row_that_was_locked_is_found_by_a_look_from_the_beginning(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1)
    with held_open(lambda: list(Delivery.objects.select_for_update())):
        assert loop.look() == []
        publish(company, 2)
        assert loop.look() == [2]
    assert loop.claim(webhook) == []

    monkeypatch.setattr(clock, "monotonic", lambda: 1e15)

    assert loop.claim(webhook) == [1]


@pytest.mark.django_db(transaction=True)
def test_a_row_that_was_locked_is_found_by_slices_where_a_look_from_the_beginning_takes_long(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", -1.0)
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1)
    with held_open(lambda: list(Delivery.objects.select_for_update())):
        assert loop.look() == []
        publish(company, 2)
        assert loop.look() == [2]

    monkeypatch.setattr(clock, "monotonic", lambda: 1e15)
    assert loop.claim(webhook) == []
    sent = [shipment for _ in range(60) for shipment in loop.look()]

    assert sent == [1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("state", ["claimed", "not yet due", "another's"])
def test_slices_find_nothing_that_is_not_to_be_claimed(loop: Loop, state: str) -> None:
    company = build.company()
    webhook, other = build.webhook(company), build.webhook(company, type_id=2)
    publish(company, 1)
    (delivery,) = Delivery.objects.all()
    due_at, webhook_id = delivery.due_at, webhook.pk
    assert claiming.find_behind(webhook.pk, BEGINNING, due_at) is None
    Wakeup.objects.all().delete()
    if state == "claimed":
        loop.look()
        loop.claim(webhook)
    elif state == "another's":
        webhook_id = other.pk

    until = due_at if state == "not yet due" else due_at + timedelta(seconds=1)

    assert claiming.find_behind(webhook_id, BEGINNING, until) is None
    assert not Wakeup.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_wakeup_before_the_front_is_found_by_slices(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", -1.0)
    company = build.company()
    build.webhook(company)
    loop.look()
    publish(company, 1)
    Wakeup.objects.update(due_at=timezone.now() - timedelta(hours=9))
    assert loop.look() == []

    monkeypatch.setattr(clock, "monotonic", lambda: 1e15)

    assert [shipment for _ in range(60) for shipment in loop.look()] == [1]


class Looks:
    """The times from which on deliveries were looked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts: list[datetime] = []
        claim = claiming.claim

        def note(loop_id: str, rooms: dict[int, int], **options: Any) -> claiming.Claims:
            self.starts += options["since"].values()
            return claim(loop_id, rooms, **options)

        monkeypatch.setattr(claiming, "claim", note)

    @property
    def from_the_beginning(self) -> list[bool]:
        return [each == BEGINNING for each in self.starts]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


@pytest.mark.django_db(transaction=True)
def test_what_is_given_back_lowers_the_front(loop: Loop, looks: Looks) -> None:
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1)
    loop.look()
    publish(company, 2)
    assert loop.look() == [2]
    sent = loop.last
    loop.claim(webhook)

    loop.database.loans.give_back(sent)

    assert loop.claim(webhook) == [2]
    due_at = Delivery.objects.get(subject_id=2).due_at
    assert looks.starts[-1] == due_at


@pytest.fixture
def heir(loop: Loop, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Loop:
    """Return another loop, beside one for whose webhooks a look from the beginning takes long."""
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", -1.0)
    settings.DELIVERY_LOOPS = 2
    heir = Loop()
    loop.look()
    heir.look()
    return heir


def transfer(loop: Loop, webhook: Webhook) -> None:
    loop.database.take(Turn(to_transfer=[webhook.pk]))


@contextmanager
def transferred(loop: Loop) -> Iterator[Webhook]:
    """Transfer a webhook, and commit an event at the end that was published before its front."""
    company = build.company()
    webhook = build.webhook(company)
    with held_open(partial(publish, company, 1)):
        publish(company, 2)
        assert loop.look() == [2]
        transfer(loop, webhook)
        yield webhook


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("why", ["shared", "stopped"])
def test_a_front_comes_with_its_webhook(loop: Loop, heir: Loop, looks: Looks, why: str) -> None:
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1)
    assert loop.look() == [1]
    if why == "shared":
        transfer(loop, webhook)
    else:
        loop.stops = True
        loop.database.take(Turn(released=[webhook.pk]))

    publish(company, 2)

    assert heir.look() == [2]
    assert looks.from_the_beginning == [True, False]
    assert sharing.inherited(str(loop.database.loop_id), [webhook.pk]) == {}
    assert sharing.inherited(str(heir.database.loop_id), [webhook.pk]).keys() == {webhook.pk}


@pytest.mark.django_db(transaction=True)
def test_an_event_that_is_committed_late_is_found_by_the_heir(loop: Loop, heir: Loop) -> None:
    with transferred(loop):
        assert heir.look() == []

    assert heir.look() == [1]


@pytest.mark.django_db(transaction=True)
def test_an_event_is_found_whose_wakeup_the_heir_dropped(loop: Loop, heir: Loop) -> None:
    with transferred(loop) as webhook:
        services.pause(webhook.pk, "")
    assert heir.look() == []

    services.resume(webhook.pk)

    assert heir.look() == [1]


@pytest.mark.django_db(transaction=True)
def test_an_heir_that_may_have_missed_a_wakeup_looks_from_the_beginning(
    loop: Loop, heir: Loop, looks: Looks
) -> None:
    with transferred(loop):
        pass
    Wakeup.objects.all().delete()

    heir.database.loans.recover(str(heir.database.loop_id))

    assert heir.look() == [1]
    assert looks.from_the_beginning == [True, True]


@pytest.mark.django_db(transaction=True)
def test_a_front_is_not_passed_on_for_which_a_look_takes_no_time(
    loop: Loop, heir: Loop, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever nobody thought of is found at once then."""
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", 60.0)
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1)
    assert loop.look() == [1]

    transfer(loop, webhook)

    assert heir.look() == []
    assert looks.from_the_beginning == [True, True]


@pytest.mark.django_db(transaction=True)
def test_dead_rows_cost_nothing_beside_an_open_transaction(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read a few pages, where a look from the beginning reads over all that was delivered."""
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", -1.0)
    company = build.company()
    webhook, deleted = build.webhook(company), build.webhook(company, type_id=2)
    services.delete_webhook(company, deleted.pk)
    loop.room = 100
    begin_without_dead_rows()
    with held_open(begin_writing):
        for batch in range(80):
            publish(company, *range(100 * batch, 100 * batch + 100))
            while loop.look() or loop.claim(webhook):
                recording.record_attempts([result(each) for each in loop.last])
        leave_dead_wakeups(webhook)
        loop_id = str(loop.database.loop_id)
        note_fronts(loop)
        leases.renew(loop_id, front=(since := lanes.settled()))
        publish(company, 9_999)
        front = pages(loop, webhook, since)
        TakenLane.objects.update(since=None)
        leases.renew(loop_id)
        whole = pages(loop, webhook, BEGINNING)

    assert front["take"] < whole["take"] / 3
    assert front["claim"] < whole["claim"] / 10
    assert front["oldest due"] < whole["oldest due"] / 5
    assert front["due"] < whole["due"] / 5
    assert front["deleted"] < whole["claim"] / 10


@pytest.mark.django_db(transaction=True)
def test_what_waits_is_counted_without_reading_many_dead_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, all_of_them = 5 * 2**13, 2**40
    company = build.company()
    build.webhook(company)
    with held_open(begin_writing), connection.cursor() as cursor:
        publish(company, *range(8_000))
        cursor.execute(
            "DELETE FROM deliveries_delivery_open"
            " WHERE id <> (SELECT id FROM deliveries_delivery_open LIMIT 1)"
        )
        cursor.execute("ANALYZE deliveries_delivery_open")
        read = {
            small: pages_read(backlog.COUNT, {"small": small, "most": 10_000})
            + pages_read(backlog.SAMPLE, {"percent": 100, "small": small, "most": 10_000})
            for small in (few, all_of_them)
        }
        monkeypatch.setattr(backlog, "SMALL_BYTES", few)
        assert backlog.count_waiting() == 1
        # This is what a crash leaves.
        cursor.execute(
            "SELECT pg_stat_reset_single_table_counters('deliveries_delivery_open'::regclass)"
        )
        assert backlog.count_waiting() == 1

    assert read[few] < read[all_of_them] / 5


def begin_without_dead_rows() -> None:
    """Remove what tests that were rolled back have left: all lanes and webhooks are read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE deliveries_lane, deliveries_wakeup, deliveries_loop, deliveries_heartbeat"
        )
        cursor.execute("VACUUM FULL webhooks_webhook")


def begin_writing() -> None:
    """Have PostgreSQL keep what ends from now on, until this transaction has ended."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()")


def leave_dead_wakeups(webhook: Webhook) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO deliveries_wakeup (webhook_id, due_at)"
            " SELECT %s, now() - interval '1 hour' FROM generate_series(1, 8000)",
            [webhook.pk],
        )
        cursor.execute("DELETE FROM deliveries_wakeup WHERE due_at < now() - interval '1 minute'")


def pages(loop: Loop, webhook: Webhook, since: datetime) -> dict[str, int]:
    """Return how many pages statements read, the engine's from a front on, and undo them."""
    loop_id = str(loop.database.loop_id)
    claims = claiming.parameters(loop_id, {webhook.pk: 8}, since={webhook.pk: since})
    read = {"deleted": pages_read(deleted_webhooks.DELETED, [[], 20])}
    with transaction.atomic():
        statements.settle_plans(transaction_only=True)
        read["oldest due"] = pages_read(backlog.OLDEST_DUE, {"woken": 1_000})
        read["due"] = pages_read(queue_picture.DUE, {"woken": 1_000, "each": 10, "most": 10})
        read["take"] = pages_read(lanes.TAKE, taking(loop_id, since))
        read["claim"] = pages_read(claiming.CLAIM, claims)
        transaction.set_rollback(True)
    return read


def note_fronts(loop: Loop) -> None:
    for _ in range(NOTES + 1):
        loop.database.loans.note_fronts(str(loop.database.loop_id))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("long_seconds", [-1.0, 60.0])
def test_what_has_been_due_longest_is_found_from_a_stored_front(
    loop: Loop, monkeypatch: pytest.MonkeyPatch, long_seconds: float
) -> None:
    """See what is in flight as well, which was due before the latest front."""
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", long_seconds)
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1)
    loop.look()
    recording.record_attempts([result(each) for each in loop.last])
    loop.claim(webhook)
    note_fronts(loop)
    publish(company, 2)
    assert loop.look() == [2]
    loop.claim(webhook)
    loop.database.loans.note_fronts(str(loop.database.loop_id))

    assert backlog.oldest_due() == Delivery.objects.get(subject_id=2).due_at
    assert (TakenLane.objects.get().since is None) == (long_seconds > 0)


@pytest.mark.django_db(transaction=True)
def test_a_heartbeat_tells_the_front_of_the_wakeups(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """See what has been due longest also if nobody takes it."""
    build.webhook(company := build.company())
    loop.look()
    monkeypatch.setattr("deliveries.engine.leases.HEARTBEAT_SECONDS", 0.0)
    loop.look()
    before = Heartbeat.objects.get().front
    publish(company, 1)

    assert backlog.oldest_due() == Delivery.objects.get().due_at
    assert before
    assert before > timezone.now() - timedelta(minutes=1)
    Wakeup.objects.update(due_at=before - timedelta(seconds=1))
    assert backlog.oldest_due() is None
    Heartbeat.objects.update(lease_until=before)
    assert backlog.oldest_due() == Delivery.objects.get().due_at


@pytest.mark.django_db(transaction=True)
def test_a_front_is_stored_once_older_claims_have_ended(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", -1.0)
    company = build.company()
    build.webhook(company)
    publish(company, 1)
    loop.look()
    began = now
    while not TakenLane.objects.get().since:
        now += 1.0
        loop.look()

    assert now - began >= claiming.lease_seconds()


@pytest.mark.django_db(transaction=True)
def test_only_so_many_fronts_are_stored(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", -1.0)
    monkeypatch.setattr("deliveries.engine.lending.MOST_STORED", 1)
    company = build.company()
    build.webhook(company)
    build.webhook(company)
    publish(company, 1)
    loop.look()

    note_fronts(loop)

    assert TakenLane.objects.exclude(since=None).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_front_is_stored_for_as_long_as_a_look_takes_long(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", -1.0)
    company = build.company()
    webhook = build.webhook(company)
    publish(company, 1)
    loop.look()
    note_fronts(loop)
    assert TakenLane.objects.get().since
    monkeypatch.setattr("deliveries.engine.fronts.LONG_SECONDS", 60.0)
    monkeypatch.setattr(clock, "monotonic", lambda: 1e15)

    loop.claim(webhook)
    loop.look()
    loop.database.loans.note_fronts(str(loop.database.loop_id))

    assert not TakenLane.objects.get().since
