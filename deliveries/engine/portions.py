"""How much to do in one turn at the database, so that a turn stays short. Pure.

An event of a quick webhook waits for the turn that is being taken, whoever it is for. How long a
hundred claims or two hundred results take depends on the machine, on what else it does, and on
what the results say.
"""

AIM_SECONDS = 0.008
SMALLEST_SHARE = 16


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
