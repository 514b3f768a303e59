"""Bound on the lines that a process logs of frequent events, so that none fills a disk. Pure.

MOST_LINES are written in WHILE_SECONDS, and then one with the number of lines left out.
"""

import logging
import time
from collections import Counter

# Five a second: 200 MB a day at worst, as JSON.
MOST_LINES = 50
WHILE_SECONDS = 10.0


class LogBound:
    """Counter of a logger's lines. `log_suppressed` is to be called every second or so."""

    clock = staticmethod(time.monotonic)

    def __init__(self, name: str) -> None:
        self.logger = logging.getLogger(name)
        self.since = self.clock()
        self.lines = 0
        self.left_out: Counter[str] = Counter()

    def may_log(self, kind: str) -> bool:
        """Return whether there is room for one more line; count it by its kind if there is not."""
        self.log_suppressed()
        self.lines += 1
        if self.lines <= MOST_LINES:
            return True
        self.left_out[kind] += 1
        return False

    def log_suppressed(self) -> None:
        """Log the number of lines left out, once WHILE_SECONDS are over."""
        now = self.clock()
        if now - self.since < WHILE_SECONDS:
            return
        if self.left_out:
            kinds = ", ".join(f"{count} {kind}" for kind, count in self.left_out.most_common(10))
            count = self.left_out.total()
            text = "%d more lines were left out in %.0f s: %s"
            self.logger.warning(text, count, now - self.since, kinds, extra={"left_out": count})
            self.left_out.clear()
        self.since, self.lines = now, 0


# Values of LOG_ATTEMPTS.
WHICH_ATTEMPTS = ("failed", "all", "none")
# Bound of an engine loop, which has its process to itself.
ATTEMPTS = LogBound("parceldesk.attempts")
# Bound of a web process, for requests that the door refuses.
REFUSALS = LogBound("parceldesk.access")
