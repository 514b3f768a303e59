"""Sharing of the slots of one engine loop between webhooks. Pure.

The scarce resource is slots times seconds. A request holds its slot until it ends, so three rules
protect quick receivers from slow ones:
- a webhook has a window of its own (deliveries.engine.pace);
- a company may hold as many slots as are free, so that many companies with many slow webhooks
  always leave some to the next;
- slow and unknown webhooks together hold at most half of the slots, and the last quarter of these
  is for companies that hold none. A request older than a second counts as slow, whatever was
  expected.
Companies take turns, and the webhooks of a company take turns among themselves.
Why: decision page engine-slots-are-shared-by-time.
"""

from collections import deque
from dataclasses import dataclass, field

from deliveries.engine.loans import Address, Claimed
from deliveries.engine.pace import SLOW_SECONDS, Pace
from deliveries.engine.round_robin import Turns, TurnsByKind

# An idle webhook stays a lane for this long, with what was learnt about its receiver.
KEEP_SECONDS = 2.0
SLOTS = 2048
SLOW_SLOTS = SLOTS // 2
# Part of SLOW_SLOTS for companies with nothing in flight: an unknown webhook may be quick.
FIRST_SLOTS = SLOW_SLOTS // 4
# Claiming stops while this many claimed deliveries could be sent.
ENOUGH_HELD = 640
# Limit of a quick webhook's deliveries claimed ahead, which are twice its successes between claims.
STOCK = 384
# Deliveries that wait for a slot, or for their receiver, are claimed again after this time, as only
# a claim notices that their webhook was paused or deleted meanwhile.
LONGEST_WAIT_SECONDS = 1.0
# Requests in a row without an answer after which a host's webhooks share one request at a time.
DEAD_AFTER = 3


@dataclass(eq=False, slots=True, weakref_slot=True)
class Host:
    """State shared by the webhooks of one host and port."""

    failures: int = 0
    in_flight: int = 0

    @property
    def dead(self) -> bool:
        return self.failures >= DEAD_AFTER


@dataclass(eq=False, slots=True)
class Flight:
    """A request in flight, with how its slot is counted."""

    lane: "Lane"
    host: Host
    started: float
    unloaded: bool
    slow: bool
    over: bool = False


@dataclass(eq=False, slots=True)
class Lane:
    """A webhook whose deliveries this loop sends, with those that it has claimed."""

    webhook_id: int
    company_id: int
    pace: Pace
    idle_since: float
    host: Host = field(default_factory=Host)
    address: Address | None = None
    most: int | None = None
    in_flight: int = 0
    # Successes since the last claim.
    answered: int = 0
    # `due`: a claim may find something. `claiming`: a claim is being made.
    due: bool = True
    claiming: bool = False
    failing: bool = False
    # The lane is transferred to another loop once nothing of it is in flight.
    leaving: bool = False
    # Its claimed deliveries had to wait for a slot or for the receiver.
    waited: bool = False
    # Seconds for which it stays a lane while it is idle.
    keep: float = KEEP_SECONDS
    fresh: deque[Claimed] = field(default_factory=deque)
    again: deque[Claimed] = field(default_factory=deque)

    @property
    def stock(self) -> int:
        return len(self.fresh) + len(self.again)

    @property
    def busy(self) -> bool:
        return bool(self.due or self.claiming or self.in_flight or self.fresh or self.again)

    def limit(self, now: float) -> int:
        limit = self.pace.limit(now)
        return limit if self.most is None else min(limit, self.most)

    def drop(self) -> list[Claimed]:
        """Remove and return all claimed deliveries, to be given back."""
        dropped = [*self.fresh, *self.again]
        self.fresh.clear()
        self.again.clear()
        return dropped


class Slots:
    """Slots of a loop. `now` is monotonic time."""

    def __init__(self) -> None:
        self.in_flight = 0
        self.slow_in_flight = 0
        self.holding = 0
        self._of_company: dict[int, int] = {}
        self._quick: deque[Flight] = deque()
        # Lanes to claim from, and lanes with claimed deliveries to start.
        self.to_claim: TurnsByKind[Lane] = TurnsByKind()
        self.to_start: Turns[Lane] = Turns()

    def has_slot(self, lane: Lane) -> bool:
        """Return whether the lane's company and its kind may hold one more slot."""
        free = SLOTS - self.in_flight
        if self._of_company.get(lane.company_id, 0) >= free:
            return False
        if lane.pace.slow and self._slow_room(lane) <= 0:
            return False
        return not (lane.host.dead and lane.host.in_flight)

    def _slow_room(self, lane: Lane) -> int:
        room = SLOW_SLOTS - FIRST_SLOTS - self.slow_in_flight
        if room > 0 or lane.company_id in self._of_company:
            return room
        return min(1, room + FIRST_SLOTS)

    def allowance(self, lane: Lane, now: float) -> int:
        """Return how many more deliveries of this webhook are worth claiming."""
        if not self.has_slot(lane):
            return 0
        if lane.host.dead:
            return 1 - lane.stock
        free = SLOTS - self.in_flight
        if lane.pace.slow:
            free = min(free, self._slow_room(lane))
        room = min(lane.limit(now) - lane.in_flight, free)
        ahead = 0 if lane.pace.slow else min(2 * lane.answered, STOCK)
        return room + ahead - lane.stock

    def room_ahead(self, now: float) -> tuple[int, int]:
        """Return how many more deliveries of quick webhooks to claim, and of slow ones.

        Claimed deliveries of quick webhooks that wait for their own receiver or company do not
        count, so that others need not wait for them. Slow webhooks get no more than their slots.
        """
        if self.holding < ENOUGH_HELD * 3 // 4 and not len(self.to_claim.slow):
            return ENOUGH_HELD - self.holding, 0
        quick = slow = 0
        for lane in self.to_start:
            ready = min(lane.stock, lane.limit(now) - lane.in_flight)
            if lane.pace.slow:
                slow += max(0, ready)
            elif ready > 0 and self.has_slot(lane):
                quick += ready
        return ENOUGH_HELD - quick, SLOW_SLOTS - FIRST_SLOTS - self.slow_in_flight - slow

    def has_nothing(self, company_id: int) -> bool:
        """Return whether the company has no deliveries in flight or claimed."""
        return company_id not in self._of_company and not self.to_start.has(company_id)

    def hold(self, lane: Lane, delivery: Claimed) -> None:
        """Store a claimed delivery until its turn."""
        lane.waited &= lane.stock > 0
        (lane.again if delivery.step else lane.fresh).append(delivery)
        self.holding += 1
        self.to_start.add(lane)

    def next_start(self, now: float) -> tuple[Lane, Claimed] | None:
        """Remove and return the next delivery to send, or None if none may be sent now.

        A webhook's first attempts go before its retries.
        """
        for _ in range(len(self.to_start)):
            lane = self.to_start.next()
            if lane.in_flight >= lane.limit(now):
                # It gets its next turn when one of its requests ends.
                lane.waited = True
                continue
            if not self.has_slot(lane):
                lane.waited = True
                self.to_start.add(lane)
                continue
            delivery = (lane.fresh or lane.again).popleft()
            self.holding -= 1
            if lane.stock:
                self.to_start.add(lane)
            return lane, delivery
        return None

    def start(self, lane: Lane, now: float) -> Flight:
        """Take a slot for a request."""
        lane.in_flight += 1
        lane.host.in_flight += 1
        self.in_flight += 1
        self._of_company[lane.company_id] = self._of_company.get(lane.company_id, 0) + 1
        flight = Flight(lane, lane.host, now, lane.pace.start(lane.in_flight), lane.pace.slow)
        if flight.slow:
            self.slow_in_flight += 1
        else:
            self._quick.append(flight)
        return flight

    def mark_slow(self, now: float) -> None:
        """Count requests in flight for longer than SLOW_SECONDS as slow."""
        while self._quick and (self._quick[0].over or now - self._quick[0].started > SLOW_SECONDS):
            flight = self._quick.popleft()
            if not flight.over:
                flight.slow = True
                self.slow_in_flight += 1

    def end(self, flight: Flight, now: float) -> None:
        """Free the slot of a request; the methods below learn from its outcome."""
        lane = flight.lane
        flight.over = True
        lane.in_flight -= 1
        lane.idle_since = now
        flight.host.in_flight -= 1
        self.in_flight -= 1
        if flight.slow:
            self.slow_in_flight -= 1
        remaining = self._of_company[lane.company_id] - 1
        if remaining:
            self._of_company[lane.company_id] = remaining
        else:
            del self._of_company[lane.company_id]
        if lane.stock:
            self.to_start.add(lane)

    def succeeded(self, flight: Flight, seconds: float, now: float) -> None:
        """Learn from a success that took `seconds`."""
        flight.host.failures = 0
        flight.lane.answered += 1
        flight.lane.pace.answered(seconds, flight.unloaded, now)

    def refused(self, flight: Flight, seconds: float) -> None:
        """Learn from an error response."""
        flight.host.failures = 0
        flight.lane.pace.refused(seconds)

    def unanswered(self, flight: Flight, seconds: float) -> None:
        """Learn from a request without a response."""
        flight.host.failures += 1
        flight.lane.pace.unanswered(seconds)

    def drop(self, lane: Lane) -> list[Claimed]:
        dropped = lane.drop()
        self.holding -= len(dropped)
        self.to_start.discard(lane)
        return dropped
