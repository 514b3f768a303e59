"""Slots of a loop are shared fairly, without a network: time is a number."""

from collections import Counter

from deliveries.engine.pace import FIRST_SIZE, SLOW_SECONDS, Pace
from deliveries.engine.rooms import DEAD_AFTER, SLOTS, SLOW_SLOTS, STOCK, Flight, Host, Lane, Rooms
from tests.sending import on_loan


def lane(
    webhook_id: int, company_id: int = 0, *, size: float = FIRST_SIZE, slow: bool = False
) -> Lane:
    """Create a lane that is known to be quick, of a company of its own unless given."""
    new_lane = Lane(webhook_id, company_id or webhook_id, Pace(0.0), 0.0)
    new_lane.pace.size = size
    new_lane.pace.seconds = 2 * SLOW_SECONDS if slow else 0.01
    return new_lane


def fill(rooms: Rooms, lane: Lane, count: int) -> None:
    for _ in range(count):
        rooms.hold(lane, on_loan(lane.webhook_id))


def start_all(rooms: Rooms, now: float = 0.0) -> list[Flight]:
    flights = []
    while started := rooms.next_start(now):
        flights.append(rooms.start(started[0], now))
    return flights


def of_each(flights: list[Flight]) -> Counter[int]:
    return Counter(flight.lane.webhook_id for flight in flights)


def test_sends_as_many_at_once_as_the_window_says() -> None:
    rooms, one = Rooms(), lane(1)
    assert rooms.allowance(one, 0.0) == FIRST_SIZE

    fill(rooms, one, 20)

    assert of_each(start_all(rooms)) == {1: FIRST_SIZE}
    assert rooms.holding == 20 - FIRST_SIZE


def test_a_webhook_may_ask_for_fewer() -> None:
    rooms, one = Rooms(), lane(1, size=100)
    one.most = 3
    fill(rooms, one, 20)

    assert of_each(start_all(rooms)) == {1: 3}
    assert rooms.allowance(one, 0.0) < 0


def test_companies_take_turns_and_webhooks_within_each() -> None:
    rooms = Rooms()
    for webhook_id, company_id in [(1, 7), (2, 7), (3, 7), (4, 8)]:
        fill(rooms, lane(webhook_id, company_id, size=10), 3)

    order = [flight.lane.webhook_id for flight in start_all(rooms)]

    assert order == [1, 4, 2, 4, 3, 4, 1, 2, 3, 1, 2, 3]


def test_first_attempts_go_before_retries_of_the_same_webhook() -> None:
    rooms, one = Rooms(), lane(1, size=10)
    for step in (4, 0, 1, 0):
        rooms.hold(one, on_loan(1, step=step))

    steps = []
    while started := rooms.next_start(0.0):
        steps.append(started[1].step)

    assert steps == [0, 0, 4, 1]
    assert rooms.holding == 0


def test_a_company_holds_no_more_than_what_is_left_free() -> None:
    rooms = Rooms()
    for webhook_id in range(1, 11):
        fill(rooms, lane(webhook_id, 7, size=1000), 1000)

    assert len(start_all(rooms)) == SLOTS // 2


def test_ten_greedy_companies_leave_slots_to_another() -> None:
    rooms = Rooms()
    for webhook_id in range(1, 11):
        fill(rooms, lane(webhook_id, size=1000), 1000)
    started = start_all(rooms)
    assert set(of_each(started).values()) <= {SLOTS // 11, SLOTS // 11 + 1}

    fill(rooms, lane(99, size=50), 50)

    assert of_each(start_all(rooms)) == {99: 50}


def test_slow_and_unknown_webhooks_hold_half_of_the_slots_at_most() -> None:
    rooms = Rooms()
    for webhook_id in range(2000):
        fill(rooms, lane(webhook_id + 1, slow=True), 5)

    assert len(start_all(rooms)) == SLOW_SLOTS

    quick = lane(5000, size=100)
    fill(rooms, quick, 100)
    assert of_each(start_all(rooms)) == {5000: 100}
    assert rooms.allowance(lane(5001, slow=True), 0.0) == 0


def test_a_request_that_takes_longer_than_a_second_counts_as_slow() -> None:
    rooms = Rooms()
    for webhook_id in range(1, 9):
        fill(rooms, lane(webhook_id, size=200), 200)
    flights = start_all(rooms)
    assert rooms.slow_in_flight == 0

    rooms.end(flights[0], 0.5)
    rooms.grow_old(2 * SLOW_SECONDS)

    assert rooms.slow_in_flight == len(flights) - 1
    for flight in flights[1:]:
        rooms.end(flight, 3.0)
    assert (rooms.slow_in_flight, rooms.in_flight) == (0, 0)


def test_webhooks_of_a_dead_host_share_one_request() -> None:
    rooms, host = Rooms(), Host()
    lanes = [lane(webhook_id) for webhook_id in range(1, 6)]
    for each in lanes:
        each.host = host
    for flight in [rooms.start(each, 0.0) for each in lanes[:DEAD_AFTER]]:
        rooms.end(flight, 5.0)
        rooms.unanswered(flight, 5.0)

    for each in lanes:
        fill(rooms, each, 2)
    (probe,) = start_all(rooms, 6.0)
    assert rooms.allowance(lanes[4], 6.0) == 0

    rooms.end(probe, 6.1)
    rooms.refused(probe, 0.1)
    assert len(start_all(rooms, 6.1)) > 1


def test_a_quick_webhook_has_a_stock_of_what_it_answers_between_claims() -> None:
    rooms, one = Rooms(), lane(1, size=10)
    for _ in range(50):
        flight = rooms.start(one, 0.0)
        rooms.end(flight, 0.0)
        rooms.succeeded(flight, 0.01, 0.0)
    grown = one.limit(0.0)

    assert rooms.allowance(one, 0.0) == grown + 100
    one.answered = 10_000
    assert rooms.allowance(one, 0.0) == grown + STOCK


def test_a_full_window_does_not_stop_the_others() -> None:
    rooms, full = Rooms(), lane(1)
    fill(rooms, full, 10)
    start_all(rooms)
    fill(rooms, lane(2, size=10), 3)

    assert of_each(start_all(rooms)) == {2: 3}


def test_next_delivery_starts_when_a_request_ends() -> None:
    rooms, one = Rooms(), lane(1)
    fill(rooms, one, 3)
    first, _ = start_all(rooms)

    rooms.end(first, 1.0)

    assert of_each(start_all(rooms)) == {1: 1}


def test_hands_out_what_it_held() -> None:
    rooms, one, other = Rooms(), lane(1), lane(2)
    fill(rooms, one, 5)
    fill(rooms, other, 5)
    start_all(rooms)

    assert len(rooms.drop(one)) == 3
    assert (rooms.holding, rooms.in_flight) == (3, 4)
    assert rooms.next_start(0.0) is None
