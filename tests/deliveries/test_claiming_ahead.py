"""Deliveries that are claimed but cannot be sent yet do not stop claims for other webhooks."""

from deliveries.engine.lane_book import LaneBook
from deliveries.engine.pace import Pace
from deliveries.engine.slots import (
    ENOUGH_HELD,
    FIRST_SLOTS,
    SLOW_SLOTS,
    STOCK,
    Lane,
    Slots,
)
from tests.deliveries.test_slots import fill, lane, start_all


def unknown(webhook_id: int, company_id: int) -> Lane:
    return Lane(webhook_id, company_id, Pace(0.0), 0.0)


def take(slots: Slots, book: LaneBook, lanes: dict[int, Lane], most: int = 100) -> dict[int, int]:
    """Claim as much as allowed, and start what may be sent; returns the counts by webhook."""
    claims = book.next_claims(0.0, most)
    for webhook_id, count in claims.items():
        lanes[webhook_id].claiming = False
        fill(slots, lanes[webhook_id], count)
        slots.to_claim.add(lanes[webhook_id])
    start_all(slots)
    return claims


def beside_a_crowd() -> tuple[Slots, LaneBook]:
    """Fill the loop with 500 companies of thousands of unknown webhooks, all sent that may be."""
    slots = Slots()
    book = LaneBook(slots)
    crowd = {number: unknown(number, 1 + number % 500) for number in range(1, 3000)}
    for each in crowd.values():
        slots.to_claim.add(each)
    while take(slots, book, crowd):
        pass
    return slots, book


def test_stocks_of_receivers_that_have_fallen_silent_hold_up_nobody() -> None:
    """Claim on: their windows are full, and their stocks wait for the time-outs."""
    slots = Slots()
    book = LaneBook(slots)
    for webhook_id in (1, 2, 3):
        fallen = lane(webhook_id, size=300)
        fill(slots, fallen, 300 + STOCK)
    start_all(slots)
    assert slots.holding > ENOUGH_HELD

    slots.to_claim.add(lane(9))

    assert book.next_claims(0.0, 100) == {9: 2}


def test_quick_webhook_is_claimed_for_at_once_among_thousands_of_unknown_ones() -> None:
    slots, book = beside_a_crowd()
    assert slots.slow_in_flight >= SLOW_SLOTS - FIRST_SLOTS

    slots.to_claim.add(lane(5000))

    assert book.next_claims(0.0, 100) == {5000: 2}


def test_idle_company_finds_a_slot_among_unknown_webhooks() -> None:
    """Find it a place although its webhook was quiet, and is no longer known to be quick."""
    slots, book = beside_a_crowd()
    before = slots.slow_in_flight
    assert SLOW_SLOTS - FIRST_SLOTS <= before < SLOW_SLOTS

    quiet = {5000: unknown(5000, 5000), 5001: unknown(5001, 5000)}
    for each in quiet.values():
        slots.to_claim.add(each)

    assert take(slots, book, quiet) == {5000: 1}
    assert slots.slow_in_flight == before + 1
    assert take(slots, book, quiet) == {}


def test_no_more_is_claimed_of_slow_ones_than_they_have_slots() -> None:
    slots = Slots()
    book = LaneBook(slots)
    crowd = {number: unknown(number, number) for number in range(1, 3000)}
    for each in crowd.values():
        slots.to_claim.add(each)

    claimed = 0
    while claims := take(slots, book, crowd):
        claimed += sum(claims.values())

    assert claimed == SLOW_SLOTS
    assert slots.holding == 0


def test_slow_and_quick_ones_share_a_claim() -> None:
    """Share them: neither waits until the others have nothing left."""
    slots = Slots()
    book = LaneBook(slots)
    for number in range(1, 300):
        slots.to_claim.add(lane(number, slow=number % 2 == 0))

    claims = book.next_claims(0.0, 100)

    assert len(claims) == 100
    assert sum(number % 2 == 0 for number in claims) == 50


def test_webhook_that_became_slow_is_claimed_among_slow_ones() -> None:
    slots = Slots()
    book = LaneBook(slots)
    one = lane(1)
    slots.to_claim.add(one)
    one.pace.seconds = 5.0

    assert book.next_claims(0.0, 100) == {1: 2}
    assert len(slots.to_claim) == 0
