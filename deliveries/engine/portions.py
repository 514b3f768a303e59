"""Adaptive batch sizes that keep turns at the database short. Pure.

An event of a quick webhook waits for the current turn, even if that serves other webhooks. The
duration of a hundred claims or two hundred results depends on the machine, its load, and the
contents of the results.
"""

AIM_SECONDS = 0.008
SMALLEST_SHARE = 16


class Portion:
    """Batch size: at most `most`, reduced to as little as 1/16 to finish within AIM_SECONDS."""

    def __init__(self, most: int) -> None:
        self.size = self._most = most

    def adjust(self, count: int, seconds: float) -> None:
        """Adapt the size to a batch of `count` that took `seconds`."""
        least = self._most // SMALLEST_SHARE
        if count < least:
            # A batch this small was not slow because of its size.
            return
        if seconds > AIM_SECONDS:
            self.size = max(least, min(self.size, int(count * AIM_SECONDS / seconds)))
        elif count >= self.size:
            self.size = min(self._most, self.size + self.size // 4 + 1)
