"""Whose turn it is: how much of each webhook's traffic one engine loop carries. No database.

A webhook has a room of requests in flight. It grows by one with each success, which doubles it
with each round of answers, and falls to one with a failure. While it is at its largest the
webhook also has a stock of claimed deliveries at hand, so that a fast receiver is not kept
waiting for the next claim.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable

from deliveries.engine.loans import Claimed, Lane

FIRST_ROOM = 8
LARGEST_ROOM = 32
STOCK = 384


class Rooms:
    def __init__(self) -> None:
        self.room: defaultdict[int, int] = defaultdict(lambda: FIRST_ROOM)
        self.in_flight: Counter[int] = Counter()
        self.fresh = Turns()
        self.again = Turns()

    @property
    def holding(self) -> int:
        return self.fresh.holding + self.again.holding

    def allowance(self, lane: Lane) -> int:
        """How many more deliveries of this webhook may be claimed."""
        webhook_id = lane.webhook_id
        if lane.probe:
            self.room[webhook_id] = 1
        room = self.room[webhook_id]
        stock = STOCK if room == LARGEST_ROOM else 0
        held = self.fresh.of(webhook_id) + self.again.of(webhook_id)
        return room + stock - self.in_flight[webhook_id] - held

    def hold(self, delivery: Claimed) -> None:
        """Keep a claimed delivery until its turn."""
        (self.again if delivery.step else self.fresh).add(delivery)

    def take(self) -> Claimed | None:
        """The next delivery to send, first attempts before retries; it is in flight.

        Webhooks that have room take turns.
        """
        delivery = self.fresh.next(self.has_room) or self.again.next(self.has_room)
        if delivery:
            self.in_flight[delivery.webhook_id] += 1
        return delivery

    def has_room(self, webhook_id: int) -> bool:
        return self.in_flight[webhook_id] < self.room[webhook_id]

    def succeeded(self, webhook_id: int) -> None:
        self.in_flight[webhook_id] -= 1
        self.room[webhook_id] = min(self.room[webhook_id] + 1, LARGEST_ROOM)

    def failed(self, webhook_id: int) -> list[Claimed]:
        """One at a time from now on; what was held for it is handed out, to be given back."""
        self.in_flight[webhook_id] -= 1
        self.room[webhook_id] = 1
        return self.fresh.drop(webhook_id) + self.again.drop(webhook_id)

    def drop_all(self) -> list[Claimed]:
        return self.fresh.drop_all() + self.again.drop_all()


class Turns:
    """Claimed deliveries, and the order in which their webhooks come up."""

    def __init__(self) -> None:
        self.held: defaultdict[int, deque[Claimed]] = defaultdict(deque)
        self.turns: deque[int] = deque()
        self.holding = 0

    def of(self, webhook_id: int) -> int:
        held = self.held.get(webhook_id)
        return len(held) if held else 0

    def add(self, delivery: Claimed) -> None:
        held = self.held[delivery.webhook_id]
        if not held:
            self.turns.append(delivery.webhook_id)
        held.append(delivery)
        self.holding += 1

    def next(self, has_room: Callable[[int], bool]) -> Claimed | None:
        for _ in range(len(self.turns)):
            webhook_id = self.turns.popleft()
            if not has_room(webhook_id):
                self.turns.append(webhook_id)
                continue
            held = self.held[webhook_id]
            delivery = held.popleft()
            self.holding -= 1
            if held:
                self.turns.append(webhook_id)
            return delivery
        return None

    def drop(self, webhook_id: int) -> list[Claimed]:
        dropped = list(self.held.pop(webhook_id, ()))
        if dropped:
            self.turns.remove(webhook_id)
        self.holding -= len(dropped)
        return dropped

    def drop_all(self) -> list[Claimed]:
        return [each for webhook_id in list(self.held) for each in self.drop(webhook_id)]
