"""The loop that looks after webhooks that nobody works on, and those that stand by. Pure.

One loop is enough until it is pressed: it takes the webhooks that wake up, and a turn of its own
finds what would take a turn of each. The other loops stand by. They take what has been left alone
for LEAVE_SECONDS, as it is where the first loop hangs, and what a pressed one gives them; and
give it back once they have had little to do for a while.
Why: decision page engine-one-loop-is-enough-until-it-is-pressed.
"""

import math

from deliveries.engine.rooms import SLOTS, Rooms
from deliveries.engine.turn import Turn

IDLE_SECONDS = 1.0
LEAVE_SECONDS = 0.05
# After a claim of so many there is more to claim at once. A loop that makes such claims, has so
# many webhooks to claim from, or so many requests in flight, is pressed for a while.
PLENTY, PRESSED_SLOTS = 32, SLOTS // 4
PRESSED_SECONDS = 2.0
# So much less is little, so that what was given for being much is not given back at once.
LITTLE_PART = 4
LITTLE_SECONDS = 5.0
# For so long after a ring a loop that stands by looks for what is left alone.
RUNG_SECONDS = 2.0


class Stand:
    """Knows how busy a loop has been lately. `now` is a monotonic clock."""

    def __init__(self, now: float) -> None:
        self.pressed_until = self._rung_until = -math.inf
        self._little_from = now + LITTLE_SECONDS
        self._first = False

    def note(self, claimed: int, rooms: Rooms, now: float) -> None:
        """Note a claim, who waits for one, and what is in flight."""
        much = max(claimed, len(rooms.to_claim)) / PLENTY, rooms.in_flight / PRESSED_SLOTS
        if max(much) >= 1:
            self.pressed_until = now + PRESSED_SECONDS
        if max(much) * LITTLE_PART >= 1:
            self._little_from = now + LITTLE_SECONDS

    def ring(self, now: float, look_at: float, lanes: int) -> float:
        """Note a ring; returns when to look: at once, or by then for what is left alone.

        The first loop looks at once, and one that has lanes.
        """
        self._rung_until = now + RUNG_SECONDS
        return now if self._first or lanes else min(look_at, now + LEAVE_SECONDS)

    def pace(self, now: float) -> float:
        """Seconds from one look that finds nothing to the next."""
        return LEAVE_SECONDS if now < self._rung_until else IDLE_SECONDS

    def tell(self, turn: Turn, now: float, first: bool) -> None:
        """Have the turn share the loop's lanes, or hand them back to the `first` loop, or not."""
        turn.pressed = now < self.pressed_until
        turn.hands_back = now >= self._little_from and not first
        self._first = first
