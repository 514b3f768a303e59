"""Division of labour between the first loop and those that stand by. Pure.

One loop is enough until it is pressed: it takes the webhooks that wake up, so that one turn does
what would otherwise take a turn of each loop. The others stand by. They take webhooks that nobody
has taken for LEAVE_SECONDS, as when the first loop hangs, and those that a pressed loop transfers
to them. They hand these back, when idle, once they have had little to do for a while.
Why: decision page engine-one-loop-is-enough-until-it-is-pressed.
"""

import math

from deliveries.engine.slots import SLOTS, Slots
from deliveries.engine.turn import Turn

IDLE_SECONDS = 1.0
LEAVE_SECONDS = 0.05
# After a claim of PLENTY there is more to claim at once. A loop that makes such claims, has as many
# webhooks to claim from, or PRESSED_SLOTS requests in flight, is pressed for PRESSED_SECONDS.
PLENTY, PRESSED_SLOTS = 32, SLOTS // 4
PRESSED_SECONDS = 2.0
# Load below this part of "pressed" is little. The gap keeps loops from handing lanes back at once.
LITTLE_PART = 4
LITTLE_SECONDS = 5.0
# Time after a ring for which a loop that stands by looks for webhooks that nobody takes.
RUNG_SECONDS = 2.0


class LoopLoad:
    """Recent load of a loop. `now` is monotonic time."""

    def __init__(self, now: float) -> None:
        self.pressed_until = self._rung_until = -math.inf
        self._little_from = now + LITTLE_SECONDS
        self._first = False

    def record(self, claimed: int, slots: Slots, now: float) -> None:
        """Record a claim, the lanes that wait for one, and the requests in flight."""
        much = max(claimed, len(slots.to_claim)) / PLENTY, slots.in_flight / PRESSED_SLOTS
        if max(much) >= 1:
            self.pressed_until = now + PRESSED_SECONDS
        if max(much) * LITTLE_PART >= 1:
            self._little_from = now + LITTLE_SECONDS

    def ring(self, now: float, look_at: float, lanes: int) -> float:
        """Record a ring; returns when to look at the database: at once if first or with `lanes`.

        Other loops look within LEAVE_SECONDS for webhooks that nobody has taken.
        """
        self._rung_until = now + RUNG_SECONDS
        return now if self._first or lanes else min(look_at, now + LEAVE_SECONDS)

    def look_interval(self, now: float) -> float:
        """Return the seconds from a look that finds nothing to the next."""
        return LEAVE_SECONDS if now < self._rung_until else IDLE_SECONDS

    def mark(self, turn: Turn, now: float, first: bool) -> None:
        """Tell the turn to share the lanes, or to hand them back unless this loop is the first."""
        turn.pressed = now < self.pressed_until
        turn.hands_back = now >= self._little_from and not first
        self._first = first
