"""Wake the engine: cheap, and allowed to fail, as loops look by themselves once a second."""

import time

from core.jobs import doorbell

# An engine loop goes on looking for a while after its last find (engine.LINGER_SECONDS), so a
# ring this soon after another would wake nobody.
PAUSE_SECONDS = 0.25

_last_ring = 0.0


def ring_engine() -> None:
    """Ask for an engine loop, at most every PAUSE_SECONDS of this process. Never raises."""
    global _last_ring
    now = time.monotonic()
    if now - _last_ring < PAUSE_SECONDS:
        return
    _last_ring = now
    doorbell.ring("deliveries.tasks.deliver", expires=10)
