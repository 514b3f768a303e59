"""An engine loop's statements without its network, timed."""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from bench.explain import plan
from deliveries import statements
from deliveries.engine import claiming, recording
from deliveries.engine.loans import Claimed, Lane
from deliveries.engine.loop import ENOUGH_HELD, LANES_AT_ONCE, RECORD_AT_ONCE
from deliveries.engine.recording import AttemptResult
from deliveries.engine.rooms import LARGEST_ROOM, STOCK
from deliveries.models import State


@dataclass
class Timed:
    """Seconds by claim, and by record of RECORD_AT_ONCE results or less."""

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
        self.before = 0

    def claim(self, timed: Timed) -> int:
        """Claim once; returns how many were delivered."""
        started = time.perf_counter()
        lanes, self.before = claiming.lanes(self.before, LANES_AT_ONCE)
        found = time.perf_counter()
        claimed = claiming.claim(rooms(lanes)) if lanes else []
        timed.claim.append(time.perf_counter() - found)
        timed.lanes.append(found - started)
        timed.claimed += len(claimed)
        healthy = [each for each in claimed if each.webhook_id not in self.dead]
        for start in range(0, len(healthy), RECORD_AT_ONCE):
            results = [delivered(each) for each in healthy[start : start + RECORD_AT_ONCE]]
            started = time.perf_counter()
            recording.record_attempts(results)
            timed.record.append(time.perf_counter() - started)
        claiming.give_back([each for each in claimed if each.webhook_id in self.dead])
        return len(healthy)


def rooms(lanes: Sequence[Lane]) -> dict[int, int]:
    """What an engine asks for whose receivers are all fast, but for those that fail."""
    share = max(1, 2 * ENOUGH_HELD // max(1, len(lanes)))
    largest = min(share, LARGEST_ROOM + STOCK)
    return {lane.webhook_id: 1 if lane.failing else largest for lane in lanes}


def delivered(claimed: Claimed) -> AttemptResult:
    return AttemptResult(
        delivery_id=claimed.id,
        claim=claimed.claim,
        webhook_id=claimed.webhook_id,
        state=State.DELIVERED,
        wait=0.0,
        url="https://hooks.example.com/in",
        started_at=timezone.now(),
        duration_ms=5,
        status=200,
        error="",
        detail="",
        answer=b"ok",
        unreachable=False,
    )


def plans() -> list[str]:
    """How PostgreSQL finds the lanes and makes the claim just now; nothing is claimed."""
    lanes, _ = claiming.lanes(0, LANES_AT_ONCE)
    asked = rooms(lanes)
    values: dict[str, Any] = {
        "webhooks": list(asked),
        "rooms": list(asked.values()),
        "claim": uuid4(),
        "lease": claiming.lease_seconds(),
        "hold": claiming.HOLD_SECONDS,
        "park": claiming.PARK_SECONDS,
        "longest": claiming.LONGEST_PARK_SECONDS,
    }
    return [
        f"Lanes\n{plan(claiming.LANES, {'before': claiming.ANY_WEBHOOK, 'most': LANES_AT_ONCE})}",
        f"Claim\n{plan(claiming.CLAIM, values)}",
    ]
