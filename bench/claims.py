"""An engine loop's statements without its network, timed."""

import time
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from bench.explain import plan
from deliveries import statements
from deliveries.engine import claiming, lanes, leases, recording
from deliveries.engine.loans import Claimed
from deliveries.engine.recording import AttemptResult
from deliveries.engine.rooms import ENOUGH_HELD
from deliveries.engine.turns import CLAIMS_AT_ONCE, RESULTS_AT_ONCE, WAKEUPS_AT_ONCE
from deliveries.models import State

FAILING_ROOM = 1


@dataclass
class Timed:
    """Seconds by claim, and by record of RESULTS_AT_ONCE results or less."""

    lanes: list[float] = field(default_factory=list)
    claim: list[float] = field(default_factory=list)
    record: list[float] = field(default_factory=list)
    claimed: int = 0

    @property
    def both(self) -> list[float]:
        return [sum(pair) for pair in zip(self.lanes, self.claim, strict=True)]


@contextmanager
def engine_s_connection() -> Iterator[None]:
    """Django's connection as an engine loop has it; another one afterwards."""
    statements.settle_plans()
    try:
        yield
    finally:
        connection.close()


class Claimer:
    """One engine loop without a network. `dead` are webhooks whose deliveries never succeed."""

    def __init__(self, dead: Collection[int] = ()) -> None:
        self.dead = set(dead)
        self.loop_id = ""
        self.lanes: deque[int] = deque()

    def claim(self, timed: Timed) -> int:
        """Claim once; returns how many were delivered."""
        if not self.loop_id or not leases.renew(self.loop_id):
            self.begin()
        started = time.perf_counter()
        woken, _, _ = lanes.take(self.loop_id, WAKEUPS_AT_ONCE)
        self.lanes += [each.webhook_id for each in woken if each.webhook_id not in self.lanes]
        found = time.perf_counter()
        rooms = self.rooms()
        claimed = claiming.claim(self.loop_id, rooms).claimed if rooms else []
        timed.claim.append(time.perf_counter() - found)
        timed.lanes.append(found - started)
        timed.claimed += len(claimed)
        healthy = [each for each in claimed if each.webhook_id not in self.dead]
        for start in range(0, len(healthy), RESULTS_AT_ONCE):
            results = [delivered(each) for each in healthy[start : start + RESULTS_AT_ONCE]]
            started = time.perf_counter()
            recording.record_attempts(results)
            timed.record.append(time.perf_counter() - started)
        claiming.give_back([each for each in claimed if each.webhook_id in self.dead])
        return len(healthy)

    def begin(self) -> None:
        """As a new loop that has all that waits; those of the last queue are over."""
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE deliveries_loop, deliveries_lane")
        self.loop_id = leases.join(1) or ""
        more = True
        while more:
            woken, more, _ = lanes.take(self.loop_id, WAKEUPS_AT_ONCE)
            self.lanes += [each.webhook_id for each in woken if each.taken]

    def rooms(self) -> dict[int, int]:
        """What an engine asks for whose receivers are all fast, but for those that fail."""
        turn = [self.lanes.popleft() for _ in range(min(len(self.lanes), CLAIMS_AT_ONCE))]
        self.lanes += turn
        share = max(1, ENOUGH_HELD // max(1, len(turn)))
        return {each: FAILING_ROOM if each in self.dead else share for each in turn}


def delivered(claimed: Claimed) -> AttemptResult:
    return AttemptResult(
        delivery_id=claimed.id,
        claim=claimed.claim,
        webhook_id=claimed.webhook_id,
        state=State.DELIVERED,
        url="https://hooks.example.com/in",
        started_at=timezone.now(),
        duration_ms=5,
        status=200,
        answer=b"ok",
    )


def plans() -> list[str]:
    """How PostgreSQL finds what has woken up and makes the claim just now; nothing is claimed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT webhook_id, loop_id FROM deliveries_lane LIMIT %s", [CLAIMS_AT_ONCE])
        found = cursor.fetchall()
    loop_id = str(found[0][1] if found else uuid4())
    rooms = {webhook_id: ENOUGH_HELD // len(found) for webhook_id, _ in found}
    values = claiming.parameters(loop_id, rooms)
    taking = {"loop": loop_id, "most": WAKEUPS_AT_ONCE, "leave": 0.0, **lanes.SIZES}
    return [
        f"Take\n{plan(lanes.TAKE, taking)}",
        f"Claim\n{plan(claiming.CLAIM, values)}",
    ]
