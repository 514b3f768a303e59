"""Whether the loop itself was there: its host may hang, its clock may jump."""

import math

from deliveries.engine import clock

# A loop that is later than this was not running.
AWAY_SECONDS = 0.5


class Presence:
    """What was in flight while the loop was away may have been answered, and nobody saw it."""

    def __init__(self) -> None:
        self._seen_at = clock.monotonic()
        self._away_until = -math.inf

    def notice(self, expected: float) -> float:
        """Note whether more time has gone by than the `expected` seconds; returns the time."""
        before, self._seen_at = self._seen_at, clock.monotonic()
        if self._seen_at - before > expected + AWAY_SECONDS:
            self._away_until = self._seen_at
        return self._seen_at

    def interrupted_since(self, started: float) -> bool:
        """Whether the loop was away since a moment of the monotonic clock."""
        return started < self._away_until
