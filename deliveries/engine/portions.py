"""How much to do in one turn at the database, so that a turn stays short. Pure.

An event of a quick webhook waits for the turn that is being taken, whoever it is for. How long a
hundred claims or two hundred results take depends on the machine, on what else it does, and on
what the results say.
"""

import math
from collections.abc import Mapping

from deliveries.engine.rooms import ENOUGH_HELD

AIM_SECONDS = 0.008
SMALLEST_SHARE = 16
# To look into a webhook takes as long as to claim so many deliveries.
WEBHOOK_COST = 6
# Turns are brief for so long after somebody was waiting who is quick otherwise.
BRIEF_SECONDS = 2.0


class Portion:
    """So many at once: `most` of them, down to a sixteenth where that takes over AIM_SECONDS."""

    def __init__(self, most: int) -> None:
        self.size = self._most = most

    def took(self, done: int, seconds: float) -> None:
        """Learn from a turn that did so many in so long."""
        least = self._most // SMALLEST_SHARE
        if done < least:
            # Whatever took long, it was not their number.
            return
        if seconds > AIM_SECONDS:
            self.size = max(least, min(self.size, int(done * AIM_SECONDS / seconds)))
        elif done >= self.size:
            self.size = min(self._most, self.size + self.size // 4 + 1)


class ClaimPortion(Portion):
    """How much to claim in one turn: half of it is for looking into so many `webhooks` at most.

    While somebody quick may be waiting, so many deliveries are claimed as the other half is for.
    Else as many as there is room for: to claim more at once costs less.
    """

    def __init__(self, webhooks: int) -> None:
        super().__init__(2 * WEBHOOK_COST * webhooks)
        self._brief_until = -math.inf

    def be_brief(self, now: float) -> None:
        self._brief_until = now + BRIEF_SECONDS

    def sizes(self, now: float) -> tuple[int, int]:
        """Of how many webhooks to claim, and how many deliveries."""
        half = self.size // 2
        return half // WEBHOOK_COST, half if now < self._brief_until else ENOUGH_HELD

    def claimed(self, rooms: Mapping[int, int], seconds: float) -> None:
        """Learn from a turn that asked for so many deliveries by webhook."""
        webhooks, deliveries, half = len(rooms), sum(rooms.values()), self.size // 2
        cost = WEBHOOK_COST * webhooks + deliveries
        # What does not divide evenly between the webhooks is not asked for.
        full = webhooks >= half // WEBHOOK_COST or deliveries > half - webhooks
        self.took(max(cost, self.size) if full else cost, seconds)
