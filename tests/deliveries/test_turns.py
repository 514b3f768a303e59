"""The loop's turns at the database, and its work between them."""

import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from datetime import datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone

from deliveries.engine import (
    claiming,
    lane_book,
    lanes,
    leases,
    loop,
    quarantine,
    setting_aside,
    turns,
)
from deliveries.engine.lane_book import (
    BRIEF_CLAIM,
    BRIEF_CLAIM_WEBHOOKS,
    BRIEF_SECONDS,
    CALM_WEBHOOKS,
    LaneBook,
)
from deliveries.engine.lanes import Woken
from deliveries.engine.lending import Loans
from deliveries.engine.loans import Address, Claimed
from deliveries.engine.pace import FIRST_SIZE
from deliveries.engine.recording import AttemptResult
from deliveries.engine.slots import SLOTS, Flight, Slots
from deliveries.engine.turn import ClaimBatch, Turn
from deliveries.engine.turns import Database
from deliveries.http.transport import Transport
from deliveries.models import Delivery, Health, Heartbeat, Loop, State, TakenLane
from tests.deliveries.test_recording import failed
from tests.deliveries.test_recording import result as result_of
from tests.deliveries.test_slots import lane
from tests.deliveries.worlds import World
from tests.sending import deliver, engine, on_loan
from tests.tickets.racing import in_order
from webhooks.models import Webhook
from webhooks.targets import Policy

PATIENCE_SECONDS = 20


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that moves the time that the database's thread sees."""
    now = [1000.0]
    monkeypatch.setattr("deliveries.engine.clock.monotonic", lambda: now[0])

    def move(seconds: float) -> None:
        now[0] += seconds

    return move


def test_a_search_that_takes_long_is_rare(
    db: None, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search seldom then: beside an open transaction it reads over all consumed wake-ups.

    The first time it comes again sooner, as it may have been the database that was slow. The search
    for webhooks of dead loops does not wait for it.
    """
    seconds = [0.03, 0.06, 0.06, 0.03]
    searches, orphans = [], Mock(return_value=0)

    def search(before: int, most: int) -> tuple[int, int]:
        searches.append(round(turns.clock.monotonic() - 1000.0))
        clock(seconds[len(searches) - 1])
        return before, 0

    monkeypatch.setattr(lanes, "find_missed", search)
    monkeypatch.setattr(leases, "free_orphaned", orphans)
    database = Database(lambda: False)
    for _ in range(910):
        database.take(Turn(listening=True))
        clock(1.0)

    assert searches == [0, 5, 305, 905]
    assert orphans.call_count == 182


def test_loop_takes_over_nothing_after_a_stall(db: None, clock: Callable[[float], None]) -> None:
    """Take over no leases: all of them ran out while the database stalled, and nobody is lost."""
    other = leases.join(2)
    database = Database(lambda: False)
    database.take(Turn())
    Heartbeat.objects.filter(pk=other).update(lease_until=timezone.now() - timedelta(seconds=1))

    clock(3)
    database.take(Turn())
    assert not Loop.objects.filter(lost=True).exists()

    clock(1)
    database.take(Turn())
    assert str(Loop.objects.get(lost=True).pk) == other


def test_loop_that_was_given_up_starts_again(db: None, clock: Callable[[float], None]) -> None:
    database = Database(lambda: False)
    database.take(Turn())
    first = database.loop_id
    Heartbeat.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert leases.take_over() == [first]

    clock(1)
    database.take(Turn())

    assert database.loop_id not in (None, first)


def test_tells_the_time_of_the_database_whatever_the_host_s_clock_says(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use the database's time: receivers refuse requests signed hours ago or ahead."""
    true, wrong = timezone.now(), timezone.now() - timedelta(hours=2)
    monkeypatch.setattr(timezone, "now", lambda: wrong)
    database = Database(lambda: False)

    database.take(Turn())

    assert abs(database.now() - true) < timedelta(hours=1)


@pytest.mark.parametrize("unheard", [(claiming, "claim"), (lanes, "take")])
def test_turn_committed_without_an_answer_is_repeated(
    world: World, monkeypatch: pytest.MonkeyPatch, unheard: tuple[object, str]
) -> None:
    """Repeat it: the server has committed, but the connection ended before its answer."""
    webhook = world.webhooks[0]
    world.publish(1, 2, 3)
    database = Database(lambda: False)
    database.take(Turn(on_wake=lambda woken: {}))
    first = Turn(claims=ClaimBatch({webhook.pk: 1}))
    database.take(first)
    world.publish(4)
    fail_and_repeat(monkeypatch, *unheard)

    again = Turn(on_wake=lambda woken: {}, claims=ClaimBatch({webhook.pk: 50}))
    database.take(again)

    # The loop knows these claims, and they stay in flight.
    assert [each.subject_id for each in first.claims.claimed + again.claims.claimed] == [1, 2, 3, 4]
    assert webhook.pk in {each.webhook_id for each in again.woken}


def test_what_was_recorded_without_an_answer_is_not_claimed_before_that_is_known(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Record again first: later it would count the same attempt twice, and end the next claim."""
    webhook = world.webhooks[0]
    world.publish(1)
    database = Database(lambda: False)
    database.take(Turn(on_wake=lambda woken: {}))
    claims = ClaimBatch({webhook.pk: 1})
    database.take(Turn(claims=claims))
    firsts: list[ClaimBatch] = []
    turn = Turn(
        results=[failed(claims.claimed[0], wait=0)],
        on_wake=lambda woken: {webhook.pk: 1},
        on_claim=firsts.append,
    )
    fail_and_repeat(monkeypatch, setting_aside, "record_all")

    database.take(turn)

    (again,) = [each for batch in firsts for each in batch.claimed]
    delivery = Delivery.objects.get(pk=again.id)
    assert (again.id, again.attempts) == (claims.claimed[0].id, 1)
    assert (delivery.attempts, str(delivery.claimed_by)) == (1, database.loop_id)


@pytest.mark.parametrize(
    ("unheard", "crashes", "claimed"),
    [
        ((quarantine, "enter"), claiming.SUSPECT_CRASHES, [1, 2]),
        ((setting_aside, "set_crashed_aside"), claiming.MOST_CRASHES, [2]),
    ],
)
def test_what_was_claimed_before_an_error_is_claimed_again(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    unheard: tuple[object, str],
    crashes: int,
    claimed: list[int],
) -> None:
    """Otherwise it would wait for the end of its claim, and suspects as long as the loop lives."""
    well, crashing, *_ = world.webhooks
    world.publish(1, 2)
    suspects = world.deliveries(crashing)
    suspects.update(crashes=claiming.SUSPECT_CRASHES)
    suspects.filter(subject_id=1).update(crashes=crashes)
    database = Database(lambda: False)
    database.take(Turn(on_wake=lambda woken: {}))
    fail_and_repeat(monkeypatch, *unheard)

    batches = [ClaimBatch({well.pk: 9, crashing.pk: 9}) for _ in range(4)]
    for batch in batches:
        database.take(Turn(claims=batch))

    everything = [each for batch in batches for each in batch.claimed]
    assert sorted(each.subject_id for each in everything if each.webhook_id == well.pk) == [1, 2]
    assert [each.subject_id for each in everything if each.webhook_id == crashing.pk] == claimed


def test_a_claim_that_ended_is_prolonged_once(world: World) -> None:
    """Claims end while the database is away; what they were for has been sent meanwhile."""
    webhook = world.webhooks[0]
    world.publish(1, 2)
    database = Database(lambda: False)
    database.take(Turn(on_wake=lambda woken: {}))
    sent, again = ClaimBatch({webhook.pk: 1}), ClaimBatch({webhook.pk: 9})
    database.take(Turn(claims=sent))
    end_claims(webhook)
    database.take(Turn(claims=again))
    recording = Turn(results=[result_of(sent.claimed[0])])
    database.take(recording)

    assert [each.subject_id for each in sent.claimed + again.claimed] == [1, 2]
    assert recording.recorded == 1
    assert Delivery.objects.get(pk=sent.claimed[0].id).state == State.DELIVERED

    for claimed in ([], [2]):
        batch = ClaimBatch({webhook.pk: 9})
        end_claims(webhook)
        database.loans.forget([webhook.pk])  # as after an error: look from the beginning
        database.take(Turn(claims=batch))
        assert [each.subject_id for each in batch.claimed] == claimed


def end_claims(webhook: Webhook) -> None:
    over = timezone.now() - timedelta(seconds=1)
    Delivery.objects.filter(webhook=webhook).update(claimed_until=over)


def fail_and_repeat(monkeypatch: pytest.MonkeyPatch, place: object, name: str) -> None:
    """Let a function fail once when it is done; the turn is repeated on the same connection."""
    monkeypatch.setattr(turns, "connection", SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(turns, "PAUSE_SECONDS", 0)
    fail_once_done(monkeypatch, place, name)


def fail_once_done(monkeypatch: pytest.MonkeyPatch, place: object, name: str) -> None:
    work = getattr(place, name)
    failed: list[bool] = []

    def fail(*arguments: object, **options: object) -> object:
        result = work(*arguments, **options)
        if not failed:
            failed.append(True)
            raise OperationalError("server closed the connection unexpectedly")
        return result

    monkeypatch.setattr(place, name, fail)


def test_one_attempt_goes_ahead_after_a_rest(world: World) -> None:
    rested, well = world.webhooks[:2]
    Health.objects.create(webhook=rested, failures=5, rests=1, resting_until=timezone.now())
    world.publish(*range(9))
    turn = Turn(claims=ClaimBatch({rested.pk: 50, well.pk: 50}))

    Database(lambda: False).take(turn)

    of_each = [each.webhook_id for each in turn.claims.claimed]
    assert (of_each.count(rested.pk), of_each.count(well.pk)) == (1, 9)


@pytest.mark.usefixtures("rows_to_keep")
def test_two_that_join_at_once_do_not_both_get_the_last_place() -> None:
    places = in_order(partial(leases.join, 1), partial(leases.join, 1))

    assert places[1] is None
    assert [str(loop.pk) for loop in Loop.objects.all()] == places[:1]


def test_webhooks_share_what_is_claimed_ahead() -> None:
    """Share it: one customer's backlog leaves the others their part of a claim."""
    slots = Slots()
    book = LaneBook(slots)
    for webhook_id in range(1, 5):
        slots.to_claim.add(lane(webhook_id, size=1000))

    assert book.next_claims(0.0, 100) == dict.fromkeys(range(1, 5), 160)


def test_idle_webhook_is_claimed_for_in_the_turn_that_wakes_it() -> None:
    """Claim in the same turn: another one takes as long as the backlogs of other companies."""
    slots = Slots()
    book = LaneBook(slots)
    slots.start(lane(1), 0.0)

    claims = book.add_woken([Woken(1, 1, True), Woken(2, 2, True), Woken(3, 2, True)], 0.0, most=16)

    assert claims == {2: FIRST_SIZE}
    # Deliveries that wait for their turn are not claimed twice.
    assert book.next_claims(0.0, 100).keys() == {1, 3}


@pytest.mark.parametrize("unfinished", [0, BRIEF_CLAIM])
def test_idle_loop_claims_for_all_woken_webhooks(unfinished: int) -> None:
    """Save a turn for each event that comes alone."""
    slots = Slots()
    book = LaneBook(slots)
    busy = lane(1)
    slots.start(busy, 0.0)
    for _ in range(unfinished):
        slots.hold(busy, on_loan(1))

    woken = [Woken(1, 1, True), Woken(2, 1, True), Woken(3, 2, True)]

    claims = book.add_woken(woken, 0.0, most=16, calm=True)

    assert claims.keys() == ({3} if unfinished else {1, 2, 3})


def test_only_first_webhooks_are_claimed_for_during_a_claim() -> None:
    slots = Slots()
    book = LaneBook(slots)
    slots.to_claim.add(lane(9))
    slots.start(lane(1), 0.0)
    assert book.next_claims(0.0, 100)

    woken = [Woken(1, 1, True), Woken(2, 2, True)]

    assert book.add_woken(woken, 0.0, most=16, calm=True).keys() == {2}


def test_an_address_that_no_wake_up_told_is_asked_for(world: World) -> None:
    """Query them again: when a turn is repeated, the known addresses may be outdated."""
    webhook = world.webhooks[0]
    world.publish(1)
    loop_id = str(leases.join(1))
    lanes.take(loop_id, 10)
    batch = ClaimBatch({webhook.pk: 1})

    Loans().claim(batch, loop_id, frozenset(), addresses={})

    assert [each.webhook_id for each in batch.claimed] == [webhook.pk]


def test_webhook_released_and_woken_in_one_turn_is_leased_again(world: World) -> None:
    """Lease it again; otherwise another loop may take the webhook as well."""
    webhook = world.webhooks[0]
    database = Database(lambda: False)
    database.take(Turn())
    assert database.loop_id
    world.publish(1)
    lanes.take(database.loop_id, 10)
    world.publish(2)

    turn = Turn(released=[webhook.pk], on_wake=lambda woken: {})
    database.take(turn)

    assert (webhook.pk, webhook.company_id, True) in {each[:3] for each in turn.woken}
    assert TakenLane.objects.filter(webhook_id=webhook.pk).exists()


@pytest.mark.parametrize("busy", [True, False])
def test_claims_are_brief_while_somebody_quick_is_about(busy: bool) -> None:
    """Claim more otherwise: a loop that drains a backlog alone claims as much as has room."""
    slots = Slots()
    book = LaneBook(slots)
    backlog = [lane(each, size=1000) for each in range(10, 110)]
    if busy:
        slots.start(backlog[0], 0.0)
    for each in backlog:
        slots.to_claim.add(each)
    assert book.add_woken([Woken(1, 2, True)], 0.0, most=16) == {1: FIRST_SIZE}

    claims = book.next_claims(0.1, 100)

    if busy:
        assert (len(claims), sum(claims.values())) == (BRIEF_CLAIM_WEBHOOKS, BRIEF_CLAIM)
    else:
        assert (len(claims), sum(claims.values())) == (100, 600)
    assert len(book.next_claims(0.1 + BRIEF_SECONDS, 100)) == len(backlog) - len(claims)


@pytest.mark.parametrize("calm", [True, False])
def test_few_of_many_woken_webhooks_are_claimed_for_at_once(calm: bool) -> None:
    book = LaneBook(Slots())

    claims = book.add_woken([Woken(each, each, True) for each in range(100)], 0.0, 16, calm)

    assert len(claims) == (CALM_WEBHOOKS if calm else 16)
    assert len(book.next_claims(0.0, 100)) == 100 - len(claims)


def test_woken_webhooks_are_claimed_for_despite_unrecorded_results(
    world: World, loopback: Policy
) -> None:
    """Claim one of each company, however much of others is still to be recorded."""
    world.publish(1)
    with closing(Transport(loopback)) as transport:
        sender = engine(transport)
        sender.results = [result_of(on_loan(1))] * loop.ENOUGH_RESULTS
        turn = sender.look(time.monotonic(), stopping=False)
        assert turn
        sender.database.take(turn)

    waiting = list(sender.slots.to_start)
    assert [each.stock for each in waiting] == [1, 1]
    assert len({each.company_id for each in waiting}) == 2


def test_woken_deliveries_are_sent_during_the_turn(
    world: World, loopback: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Send it meanwhile: recording what others were sent takes time."""
    world.publish(1)
    holding: list[int] = []

    def record(results: list[AttemptResult], failing: set[int]) -> int:
        holding.append(sender.slots.holding)
        return len(results)

    monkeypatch.setattr(setting_aside, "record_all", record)
    with closing(Transport(loopback)) as transport:
        sender = engine(transport)
        sender.results = [result_of(on_loan(1))]
        sender.recorded_at = -math.inf
        turn = sender.write(time.monotonic(), stopping=False)
        assert turn
        sender.database.take(turn)

    assert holding == [4]


def test_postponed_claims_come_first(world: World, loopback: Policy) -> None:
    world.publish(1)
    with closing(Transport(loopback)) as transport:
        sender = engine(transport)
        sender.results = [result_of(on_loan(1))] * loop.ENOUGH_RESULTS
        sender.begin_turn(time.monotonic(), stopping=False)
        while not cast("Future[Turn]", sender.turn).done():
            sender.runner.resume(1.0)
        now = time.monotonic()
        sender.finish_turn(now)

    # Each company has two webhooks: one of each was claimed.
    assert sender.woken
    assert sender.claim_at == now


def test_looks_that_find_nothing_put_no_claim_off(loopback: Policy) -> None:
    """Avoid a busy loop that looks every few milliseconds, and again before each claim."""
    now = time.monotonic()
    with closing(Transport(loopback)) as transport:
        sender = engine(transport)
        sender.claim_at = now
        sender.turn = Future()
        sender.turn.set_result(Turn(listening=True))
        sender.finish_turn(now)

    assert sender.claim_at == now


@pytest.mark.parametrize("halted", [True, False])
def test_nothing_is_claimed_while_the_way_out_is_shut(
    world: World, loopback: Policy, halted: bool
) -> None:
    world.publish(1)
    with closing(Transport(loopback)) as transport:
        sender = engine(transport)
        sender.halted = halted
        turn = sender.look(time.monotonic(), stopping=False)
        assert turn
        sender.database.take(turn)

    assert bool(sender.slots.holding) is not halted


def test_a_loop_that_ends_leaves_its_webhooks_to_be_woken() -> None:
    book = LaneBook(Slots())
    book.add_woken([Woken(7, 1, True), Woken(8, 2, True)], 0.0, most=0)

    last = book.release_free(Turn())

    assert sorted(last.released) == sorted(last.unfinished) == [7, 8]
    assert len(book) == 0


def test_silence_lasts_until_it_is_written(loopback: Policy) -> None:
    """Keep it: a turn that began before the request for silence has not written it."""
    with closing(Transport(loopback, concurrency=SLOTS)) as transport:
        loop = engine(transport)
        silenced: set[int]
        for silenced, remaining in ((set(), {7}), ({7}, set())):
            loop.book.silent.add(7)
            loop.turn = Future()
            loop.turn.set_result(Turn(recorded=1, silenced=silenced))
            loop.finish_turn(0.0)
            assert loop.book.silent == remaining


def test_lanes_that_are_too_many_go_when_nothing_of_them_is_in_flight() -> None:
    slots = Slots()
    book = LaneBook(slots)
    book.add_woken([Woken(number, 1, True) for number in (7, 8, 9)], 0.0, most=0)
    busy = book._lanes[7]
    flight = slots.start(busy, 0.0)

    book.choose_leaving(3, 0.0)
    assert book.next_claims(0.0, 100) == {}
    first = Turn()
    book.transfer_free(first, 0.1)
    assert sorted(first.to_transfer) == [8, 9]

    slots.end(flight, 0.2)
    second = Turn()
    book.transfer_free(second, 0.2)
    assert (second.to_transfer, len(book)) == ([7], 0)


def test_lanes_that_are_handed_back_are_idle() -> None:
    """Keep the others: the loop that gets them may look a second later."""
    slots = Slots()
    book, turn = LaneBook(slots), Turn()
    book.add_woken([Woken(number, 1, True) for number in (7, 8, 9)], 0.0, most=0)
    book.add_claimed(ClaimBatch(book.next_claims(0.0, 100)))
    slots.start(book._lanes[8], 0.0)
    book.wake(book._lanes[9])

    book.choose_leaving(3, 0.0, busy=False)
    book.transfer_free(turn, 0.1)

    assert turn.to_transfer == [7]


def test_a_lane_goes_once_it_is_recorded_that_its_receiver_wants_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Keep it until then: another loop would send to it, as only this one knows."""
    monkeypatch.setattr(lane_book, "MOST_LANES", 0)
    book, turn = LaneBook(Slots()), Turn()
    book.add_woken([Woken(7, 1, True)], 0.0, most=0)
    book.choose_leaving(1, 0.0)
    book.silent = {7}
    book.transfer_free(turn, 0.1)
    book.release_idle(turn, 0.1)
    assert (turn.to_transfer, turn.released) == ([], [])

    book.silent = set()
    book.transfer_free(turn, 0.2)
    assert turn.to_transfer == [7]


@pytest.mark.parametrize("resting", [False, True])
@pytest.mark.parametrize(("keep", "kept"), [({}, False), ({7: 500.0}, True)])
def test_a_webhook_whose_claim_from_the_beginning_takes_long_is_kept(
    resting: bool, keep: dict[int, float], kept: bool
) -> None:
    """Keep its front: beside an open transaction the next claim would begin anew."""
    book, turn = LaneBook(Slots()), Turn()
    book.add_woken([Woken(7, 1, True)], 0.0, most=0)
    rooms = book.next_claims(0.0, 100)
    url = "https://one.example/"
    address = Address(1, url, "one.example", Mock(), None, False, False, None, None)
    book.add_claimed(ClaimBatch(rooms, {} if resting else {7: address}, keep=keep))

    book.release_idle(turn, 3.0)
    assert (turn.released == []) is kept

    book.release_idle(turn, 501.0)
    assert turn.released == [7]


def test_a_lane_that_is_busy_for_too_long_stays() -> None:
    slots = Slots()
    book, turn = LaneBook(slots), Turn()
    book.add_woken([Woken(7, 1, True)], 0.0, most=0)
    slots.start(book._lanes[7], 0.0)
    book.choose_leaving(1, 0.0)

    book.transfer_free(turn, 0.6)

    assert turn.to_transfer == []
    assert book.next_claims(0.6, 100).keys() == {7}


def test_claims_that_waited_too_long_are_given_back(
    world: World, loopback: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Release them: a claim must outlast its attempt. Here the first claims are too old."""
    given_back: list[Claimed] = []
    claim, give_back = claiming.claim, claiming.give_back

    def claim_long_ago(loop_id: str, slots: dict[int, int], **options: bool) -> claiming.Claims:
        claims = claim(loop_id, slots, **options)
        if given_back:
            return claims
        old = [each._replace(claimed_at=time.monotonic() - 15.1) for each in claims.claimed]
        return claims._replace(claimed=old)

    def note(claimed: list[Claimed]) -> list[tuple[int, datetime]]:
        given_back.extend(claimed)
        return give_back(claimed)

    monkeypatch.setattr(claiming, "claim", claim_long_ago)
    monkeypatch.setattr(claiming, "give_back", note)
    world.publish(*range(4))

    assert deliver(loopback) == 16

    assert given_back
    assert set(Delivery.objects.values_list("state", "attempts")) == {(State.DELIVERED, 1)}
    assert len(world.receiver.log) == 16


def test_what_waited_for_its_receiver_is_claimed_again(
    loopback: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its webhook may have been paused, deleted or erased meanwhile: only a claim notices."""
    flights: list[Flight] = []
    with closing(Transport(loopback)) as transport:
        loop = engine(transport)
        loop.book.add_woken([Woken(7, 1, True)], 0.0, most=0)
        lane = loop.book._lanes[7]
        monkeypatch.setattr(loop.database, "has_lease", lambda loop_id: True)
        monkeypatch.setattr(
            loop, "start", lambda lane, *_: flights.append(loop.slots.start(lane, 0.0))
        )
        url = "https://one.example/in"
        lane.address = Address(1, url, "one.example", [], None, False, False, None, None)
        for _ in range(FIRST_SIZE + 2):
            loop.slots.hold(lane, on_loan(7))

        # The turn at the database may have taken long; the receiver's window is full from now on.
        loop.start_held(1.1)
        assert len(flights) == FIRST_SIZE
        loop.slots.end(flights[0], 1.2)
        loop.start_held(1.2)

    assert len(flights) == FIRST_SIZE
    assert len(loop.back) == 2
    assert len(loop.slots.to_claim) == 1


def test_what_is_given_back_is_claimed_in_the_same_turn(
    loopback: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a claim that began before it was dropped leaves it idle until the next look."""
    with closing(Transport(loopback)) as transport:
        loop = engine(transport)
        monkeypatch.setattr(loop.runner, "start", lambda work: work.args[0])
        loop.book.add_woken([Woken(7, 1, True)], 0.0, most=0)
        loop.book.add_claimed(ClaimBatch(loop.book.next_claims(0.0, 10)))
        loop.back = [on_loan(7)]

        loop.begin_turn(time.monotonic(), False)

    turn = cast("Turn", loop.turn)
    assert [each.webhook_id for each in turn.back] == [7]
    assert turn.claims.rooms.keys() == {7}


def test_doorbell_makes_the_loop_look_at_once(world: World, loopback: Policy) -> None:
    world.publish(1)
    give_up = time.monotonic() + PATIENCE_SECONDS

    def stop() -> bool:
        return len(world.receiver.log) >= 4 or time.monotonic() > give_up

    with closing(Transport(loopback, concurrency=8)) as transport:
        loop = engine(transport, stop)
        # The loop looked a moment ago.
        loop.look_at = time.monotonic() + 3600
        loop.bell.ring()
        loop.run()

    assert len(world.receiver.log) == 4


@pytest.mark.parametrize(("unrecorded", "claims"), [(loop.ENOUGH_RESULTS, 0), (10, 1)])
def test_nothing_is_claimed_while_much_is_not_recorded(
    loopback: Policy, unrecorded: int, claims: int
) -> None:
    """Wait, because all of them would be sent again if the process were killed now."""
    with closing(Transport(loopback)) as transport:
        sender = engine(transport)
        sender.book.add_woken([Woken(1, 1, True)], time.monotonic(), most=0)
        sender.results = [result_of(on_loan(1))] * unrecorded
        turn = sender.look(time.monotonic(), stopping=False)

    assert turn
    assert len(turn.claims.rooms) == claims
