from collections import Counter
from uuid import uuid4

from deliveries.engine.loans import Claimed, Lane
from deliveries.engine.rooms import FIRST_ROOM, LARGEST_ROOM, STOCK, Rooms


def claimed(webhook_id: int, *, step: int = 0) -> Claimed:
    return Claimed(str(uuid4()), webhook_id, None, step, step, 3, b"{}", str(uuid4()), 0.0)


def lane(webhook_id: int, *, probe: bool = False) -> Lane:
    return Lane(webhook_id, failing=probe, probe=probe)


def fill(rooms: Rooms, webhook_id: int, count: int) -> None:
    for _ in range(count):
        rooms.hold(claimed(webhook_id))


def start_all(rooms: Rooms) -> Counter[int]:
    started: Counter[int] = Counter()
    while delivery := rooms.take():
        started[delivery.webhook_id] += 1
    return started


def test_a_stranger_gets_the_first_room() -> None:
    rooms = Rooms()
    assert rooms.allowance(lane(1)) == FIRST_ROOM

    fill(rooms, 1, 20)

    assert start_all(rooms) == {1: FIRST_ROOM}
    assert rooms.holding == 20 - FIRST_ROOM


def test_webhooks_take_turns() -> None:
    rooms = Rooms()
    fill(rooms, 1, 5)
    fill(rooms, 2, 2)
    fill(rooms, 3, 1)

    order = [rooms.take().webhook_id for _ in range(8)]

    assert order == [1, 2, 3, 1, 2, 1, 1, 1]
    assert rooms.take() is None


def test_first_attempts_go_before_retries() -> None:
    rooms = Rooms()
    for webhook_id, step in [(1, 4), (1, 0), (2, 1), (3, 0), (1, 0)]:
        rooms.hold(claimed(webhook_id, step=step))

    taken = [rooms.take() for _ in range(5)]

    assert [(each.webhook_id, each.step) for each in taken] == [
        (1, 0),
        (3, 0),
        (1, 0),
        (1, 4),
        (2, 1),
    ]
    assert rooms.holding == 0


def test_a_failure_hands_back_first_attempts_and_retries() -> None:
    rooms = Rooms()
    for step in (0, 0, 2):
        rooms.hold(claimed(1, step=step))
    rooms.take()

    assert sorted(each.step for each in rooms.failed(1)) == [0, 2]
    assert rooms.take() is None


def test_a_round_of_successes_doubles_the_room() -> None:
    rooms = Rooms()
    fill(rooms, 1, 200)
    for room in (8, 16, 32, 32):
        assert start_all(rooms) == {1: room}
        for _ in range(room):
            rooms.succeeded(1)

    assert rooms.room[1] == LARGEST_ROOM
    assert rooms.allowance(lane(1)) == LARGEST_ROOM + STOCK - rooms.holding


def test_a_failure_makes_the_room_one_and_hands_out_what_was_held() -> None:
    rooms = Rooms()
    fill(rooms, 1, 20)
    start_all(rooms)

    given_back = rooms.failed(1)

    assert (len(given_back), rooms.holding, rooms.room[1]) == (12, 0, 1)
    assert rooms.take() is None


def test_a_rested_webhook_gets_one_probe() -> None:
    rooms = Rooms()

    assert rooms.allowance(lane(1, probe=True)) == 1
    fill(rooms, 1, 1)
    rooms.take()
    assert rooms.allowance(lane(1, probe=True)) == 0


def test_a_full_room_does_not_stop_the_others() -> None:
    rooms = Rooms()
    fill(rooms, 1, FIRST_ROOM + 5)
    start_all(rooms)
    fill(rooms, 2, 3)

    assert start_all(rooms) == {2: 3}


def test_drops_all_it_holds() -> None:
    rooms = Rooms()
    fill(rooms, 1, 3)
    fill(rooms, 2, 3)
    rooms.take()

    assert len(rooms.drop_all()) == 5
    assert rooms.holding == 0
    assert rooms.take() is None
