"""Signs of life of a worker's engine loops, in memory that they share with their keeper. Pure.

The keeper has one loop running, and starts another once those that run are pressed or silent; one
that nobody needs ends after a while.
Why: decision page engine-a-second-loop-when-the-first-is-pressed.
"""

import math
import mmap
from collections.abc import Collection

# A loop whose sign is this late hangs or stalls.
LATE_SECONDS = 0.5
# Time that a new loop has for its first sign.
START_SECONDS = 10.0
# A further loop ends after it has had nothing to do, and none was pressed, for this long.
SPARE_SECONDS = 60.0


class Sign:
    """Sign of life of one loop. Times are of the monotonic clock, which all processes share."""

    def __init__(self) -> None:
        self._times = memoryview(mmap.mmap(-1, 3 * 8)).cast("d")

    def begin(self, now: float) -> None:
        """Reset the sign for a loop that is about to start."""
        self.write(now + START_SECONDS, -math.inf, now)

    def write(self, back_by: float, pressed_until: float, busy_at: float) -> None:
        """Give a sign of life; the next is due at `back_by`, and the last work was at `busy_at`."""
        self._times[0], self._times[1], self._times[2] = back_by, pressed_until, busy_at

    def wait_until(self, back_by: float) -> None:
        """Announce when the next sign is due, and change nothing else."""
        self._times[0] = back_by

    def is_silent(self, now: float) -> bool:
        return now > self._times[0] + LATE_SECONDS

    def is_pressed(self, now: float) -> bool:
        return now < self._times[1]

    def was_calm(self, now: float) -> bool:
        """Return whether the loop is not silent and was not pressed for SPARE_SECONDS."""
        return not self.is_silent(now) and now - self._times[1] >= SPARE_SECONDS

    def idle_seconds(self, now: float) -> float:
        return now - self._times[2]


def another_is_needed(running: Collection[Sign], now: float) -> bool:
    """Return whether all running loops are pressed or silent."""
    return all(sign.is_pressed(now) or sign.is_silent(now) for sign in running)


def find_spare(running: Collection[Sign], now: float) -> Sign | None:
    """Return the loop that has been idle for longest if it is not needed, else None."""
    if len(running) < 2 or not all(sign.was_calm(now) for sign in running):
        return None
    idlest = max(running, key=lambda sign: sign.idle_seconds(now))
    return idlest if idlest.idle_seconds(now) >= SPARE_SECONDS else None
