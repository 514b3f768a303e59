"""Doorbell of the engine: cheap, and allowed to fail, as loops look once a second anyway."""

import time

from core.jobs import doorbell

# An engine loop goes on looking for a while after it last found something (engine.LINGER_SECONDS),
# so a ring this soon after another would wake nobody.
PAUSE_SECONDS = 0.25

_last_ring = 0.0


def ring_engine() -> None:
    """Wake the engine loops, at most every PAUSE_SECONDS from this process. Never raises."""
    global _last_ring
    now = time.monotonic()
    if now - _last_ring < PAUSE_SECONDS:
        return
    _last_ring = now
    doorbell.ring("deliveries.tasks.deliver", expires=10)
