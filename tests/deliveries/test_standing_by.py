"""Loops that give webhooks to others, take them back, or look for some while they have none."""

import pytest

from deliveries.engine.rooms import SLOTS, Rooms
from deliveries.engine.standing_by import (
    IDLE_SECONDS,
    LEAVE_SECONDS,
    LITTLE_PART,
    LITTLE_SECONDS,
    PLENTY,
    PRESSED_SECONDS,
    RUNG_SECONDS,
    Stand,
)
from deliveries.engine.turn import Turn
from tests.deliveries.test_rooms import lane

BUSY = {
    "claims": (PLENTY, 0, 0),
    "webhooks that wait": (0, PLENTY, 0),
    "slots": (0, 0, SLOTS // 4),
}


def note(stand: Stand, claimed: int, waiting: int, in_flight: int, now: float) -> None:
    rooms = Rooms()
    rooms.in_flight = in_flight
    for webhook_id in range(waiting):
        rooms.to_claim.add(lane(webhook_id))
    stand.note(claimed, rooms, now)


def wishes(stand: Stand, now: float, *, first: bool = False) -> tuple[bool, bool]:
    turn = Turn()
    stand.tell(turn, now, first)
    return turn.pressed, turn.hands_back


@pytest.mark.parametrize("busy", BUSY.values(), ids=BUSY)
def test_a_loop_is_pressed_for_a_while(busy: tuple[int, int, int]) -> None:
    stand = Stand(0.0)

    note(stand, *busy, 1.0)

    assert wishes(stand, 1.0 + PRESSED_SECONDS - 0.01) == (True, False)
    assert wishes(stand, 1.0 + PRESSED_SECONDS) == (False, False)


@pytest.mark.parametrize("busy", BUSY.values(), ids=BUSY)
def test_loop_hands_back_webhooks_once_it_is_idle(busy: tuple[int, int, int]) -> None:
    stand = Stand(0.0)
    claimed, waiting, in_flight = (each // LITTLE_PART for each in busy)
    note(stand, claimed, waiting, in_flight, 2.0)
    note(stand, claimed // 2, waiting // 2, in_flight // 2, 3.0)

    assert wishes(stand, 2.0 + LITTLE_SECONDS - 0.01) == (False, False)
    assert wishes(stand, 2.0 + LITTLE_SECONDS) == (False, True)
    assert wishes(stand, 2.0 + LITTLE_SECONDS, first=True) == (False, False)


def test_a_loop_that_stands_by_looks_for_what_is_left_alone() -> None:
    stand = Stand(0.0)
    assert stand.pace(1.0) == IDLE_SECONDS

    assert stand.ring(1.0, 1.7, lanes=0) == 1.0 + LEAVE_SECONDS
    assert stand.ring(1.0, 1.01, lanes=0) == 1.01
    assert stand.ring(1.0, 1.7, lanes=1) == 1.0
    wishes(stand, 1.0, first=True)
    assert stand.ring(1.0, 1.7, lanes=0) == 1.0

    assert stand.pace(1.0 + RUNG_SECONDS - 0.01) == LEAVE_SECONDS
    assert stand.pace(1.0 + RUNG_SECONDS) == IDLE_SECONDS
