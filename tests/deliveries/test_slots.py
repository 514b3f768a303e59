"""Slots of a loop are shared fairly, without a network: time is a number."""

from collections import Counter

from deliveries.engine.pace import FIRST_SIZE, SLOW_SECONDS, Pace
from deliveries.engine.slots import DEAD_AFTER, SLOTS, SLOW_SLOTS, STOCK, Flight, Host, Lane, Slots
from tests.sending import on_loan


def lane(
    webhook_id: int, company_id: int = 0, *, size: float = FIRST_SIZE, slow: bool = False
) -> Lane:
    """Create a lane that is known to be quick, of a company of its own unless given."""
    new_lane = Lane(webhook_id, company_id or webhook_id, Pace(0.0), 0.0)
    new_lane.pace.size = size
    new_lane.pace.seconds = 2 * SLOW_SECONDS if slow else 0.01
    return new_lane


def fill(slots: Slots, lane: Lane, count: int) -> None:
    for _ in range(count):
        slots.hold(lane, on_loan(lane.webhook_id))


def start_all(slots: Slots, now: float = 0.0) -> list[Flight]:
    flights = []
    while started := slots.next_start(now):
        flights.append(slots.start(started[0], now))
    return flights


def of_each(flights: list[Flight]) -> Counter[int]:
    return Counter(flight.lane.webhook_id for flight in flights)


def test_sends_as_many_at_once_as_the_window_says() -> None:
    slots, one = Slots(), lane(1)
    assert slots.allowance(one, 0.0) == FIRST_SIZE

    fill(slots, one, 20)

    assert of_each(start_all(slots)) == {1: FIRST_SIZE}
    assert slots.holding == 20 - FIRST_SIZE


def test_a_webhook_may_ask_for_fewer() -> None:
    slots, one = Slots(), lane(1, size=100)
    one.most = 3
    fill(slots, one, 20)

    assert of_each(start_all(slots)) == {1: 3}
    assert slots.allowance(one, 0.0) < 0


def test_companies_take_turns_and_webhooks_within_each() -> None:
    slots = Slots()
    for webhook_id, company_id in [(1, 7), (2, 7), (3, 7), (4, 8)]:
        fill(slots, lane(webhook_id, company_id, size=10), 3)

    order = [flight.lane.webhook_id for flight in start_all(slots)]

    assert order == [1, 4, 2, 4, 3, 4, 1, 2, 3, 1, 2, 3]


def test_first_attempts_go_before_retries_of_the_same_webhook() -> None:
    slots, one = Slots(), lane(1, size=10)
    for step in (4, 0, 1, 0):
        slots.hold(one, on_loan(1, step=step))

    steps = []
    while started := slots.next_start(0.0):
        steps.append(started[1].step)

    assert steps == [0, 0, 4, 1]
    assert slots.holding == 0


def test_a_company_holds_no_more_than_what_is_left_free() -> None:
    slots = Slots()
    for webhook_id in range(1, 11):
        fill(slots, lane(webhook_id, 7, size=1000), 1000)

    assert len(start_all(slots)) == SLOTS // 2


def test_ten_greedy_companies_leave_slots_to_another() -> None:
    slots = Slots()
    for webhook_id in range(1, 11):
        fill(slots, lane(webhook_id, size=1000), 1000)
    started = start_all(slots)
    assert set(of_each(started).values()) <= {SLOTS // 11, SLOTS // 11 + 1}

    fill(slots, lane(99, size=50), 50)

    assert of_each(start_all(slots)) == {99: 50}


def test_slow_and_unknown_webhooks_hold_half_of_the_slots_at_most() -> None:
    slots = Slots()
    for webhook_id in range(2000):
        fill(slots, lane(webhook_id + 1, slow=True), 5)

    assert len(start_all(slots)) == SLOW_SLOTS

    quick = lane(5000, size=100)
    fill(slots, quick, 100)
    assert of_each(start_all(slots)) == {5000: 100}
    assert slots.allowance(lane(5001, slow=True), 0.0) == 0


def test_a_request_that_takes_longer_than_a_second_counts_as_slow() -> None:
    slots = Slots()
    for webhook_id in range(1, 9):
        fill(slots, lane(webhook_id, size=200), 200)
    flights = start_all(slots)
    assert slots.slow_in_flight == 0

    slots.end(flights[0], 0.5)
    slots.mark_slow(2 * SLOW_SECONDS)

    assert slots.slow_in_flight == len(flights) - 1
    for flight in flights[1:]:
        slots.end(flight, 3.0)
    assert (slots.slow_in_flight, slots.in_flight) == (0, 0)


def test_webhooks_of_a_dead_host_share_one_request() -> None:
    slots, host = Slots(), Host()
    lanes = [lane(webhook_id) for webhook_id in range(1, 6)]
    for each in lanes:
        each.host = host
    for flight in [slots.start(each, 0.0) for each in lanes[:DEAD_AFTER]]:
        slots.end(flight, 5.0)
        slots.unanswered(flight, 5.0)

    for each in lanes:
        fill(slots, each, 2)
    (probe,) = start_all(slots, 6.0)
    assert slots.allowance(lanes[4], 6.0) == 0

    slots.end(probe, 6.1)
    slots.refused(probe, 0.1)
    assert len(start_all(slots, 6.1)) > 1


def test_a_quick_webhook_has_a_stock_of_what_it_answers_between_claims() -> None:
    slots, one = Slots(), lane(1, size=10)
    for _ in range(50):
        flight = slots.start(one, 0.0)
        slots.end(flight, 0.0)
        slots.succeeded(flight, 0.01, 0.0)
    grown = one.limit(0.0)

    assert slots.allowance(one, 0.0) == grown + 100
    one.answered = 10_000
    assert slots.allowance(one, 0.0) == grown + STOCK
    one.pace.seconds = 2 * SLOW_SECONDS
    assert slots.allowance(one, 0.0) == grown


def test_a_full_window_does_not_stop_the_others() -> None:
    slots, full = Slots(), lane(1)
    fill(slots, full, 10)
    start_all(slots)
    fill(slots, lane(2, size=10), 3)

    assert of_each(start_all(slots)) == {2: 3}


def test_next_delivery_starts_when_a_request_ends() -> None:
    slots, one = Slots(), lane(1)
    fill(slots, one, 3)
    first, _ = start_all(slots)

    slots.end(first, 1.0)

    assert of_each(start_all(slots)) == {1: 1}


def test_hands_out_what_it_held() -> None:
    slots, one, other = Slots(), lane(1), lane(2)
    fill(slots, one, 5)
    fill(slots, other, 5)
    start_all(slots)

    assert len(slots.drop(one)) == 3
    assert (slots.holding, slots.in_flight) == (3, 4)
    assert slots.next_start(0.0) is None
