"""Detection of stalls of the loop itself: its host may hang, its clock may jump."""

import math

from deliveries.engine import clock

# A loop that is later than this did not run in between.
AWAY_SECONDS = 0.5


class Presence:
    """Record of the loop's last stall, during which replies may have been missed."""

    def __init__(self) -> None:
        self._seen_at = clock.monotonic()
        self._away_until = -math.inf

    def notice(self, expected: float) -> float:
        """Record a stall if clearly more than `expected` seconds have passed; returns the time."""
        before, self._seen_at = self._seen_at, clock.monotonic()
        if self._seen_at - before > expected + AWAY_SECONDS:
            self._away_until = self._seen_at
        return self._seen_at

    def interrupted_since(self, started: float) -> bool:
        """Return whether the loop stalled after `started`, in monotonic time."""
        return started < self._away_until
