"""Loops that give webhooks to others, take them back, or look for some while they have none."""

import pytest

from deliveries.engine.slots import SLOTS, Slots
from deliveries.engine.standing_by import (
    IDLE_SECONDS,
    LEAVE_SECONDS,
    LITTLE_PART,
    LITTLE_SECONDS,
    PLENTY,
    PRESSED_SECONDS,
    RUNG_SECONDS,
    LoopLoad,
)
from deliveries.engine.turn import Turn
from tests.deliveries.test_slots import lane

BUSY = {
    "claims": (PLENTY, 0, 0),
    "webhooks that wait": (0, PLENTY, 0),
    "slots": (0, 0, SLOTS // 4),
}


def record(load: LoopLoad, claimed: int, waiting: int, in_flight: int, now: float) -> None:
    slots = Slots()
    slots.in_flight = in_flight
    for webhook_id in range(waiting):
        slots.to_claim.add(lane(webhook_id))
    load.record(claimed, slots, now)


def wishes(load: LoopLoad, now: float, *, first: bool = False) -> tuple[bool, bool]:
    turn = Turn()
    load.mark(turn, now, first)
    return turn.pressed, turn.hands_back


@pytest.mark.parametrize("busy", BUSY.values(), ids=BUSY)
def test_a_loop_is_pressed_for_a_while(busy: tuple[int, int, int]) -> None:
    load = LoopLoad(0.0)

    record(load, *busy, 1.0)

    assert wishes(load, 1.0 + PRESSED_SECONDS - 0.01) == (True, False)
    assert wishes(load, 1.0 + PRESSED_SECONDS) == (False, False)


@pytest.mark.parametrize("busy", BUSY.values(), ids=BUSY)
def test_loop_hands_back_webhooks_once_it_is_idle(busy: tuple[int, int, int]) -> None:
    load = LoopLoad(0.0)
    claimed, waiting, in_flight = (each // LITTLE_PART for each in busy)
    record(load, claimed, waiting, in_flight, 2.0)
    record(load, claimed // 2, waiting // 2, in_flight // 2, 3.0)

    assert wishes(load, 2.0 + LITTLE_SECONDS - 0.01) == (False, False)
    assert wishes(load, 2.0 + LITTLE_SECONDS) == (False, True)
    assert wishes(load, 2.0 + LITTLE_SECONDS, first=True) == (False, False)


def test_a_loop_that_stands_by_looks_for_what_is_left_alone() -> None:
    load = LoopLoad(0.0)
    assert load.look_interval(1.0) == IDLE_SECONDS

    assert load.ring(1.0, 1.7, lanes=0) == 1.0 + LEAVE_SECONDS
    assert load.ring(1.0, 1.01, lanes=0) == 1.01
    assert load.ring(1.0, 1.7, lanes=1) == 1.0
    wishes(load, 1.0, first=True)
    assert load.ring(1.0, 1.7, lanes=0) == 1.0

    assert load.look_interval(1.0 + RUNG_SECONDS - 0.01) == LEAVE_SECONDS
    assert load.look_interval(1.0 + RUNG_SECONDS) == IDLE_SECONDS
