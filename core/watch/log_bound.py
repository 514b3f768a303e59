"""How many lines a process logs of what comes in floods: none fills a disk. Pure.

So many are written in a while, and then one that says what was left out.
"""

import logging
import time
from collections import Counter

# Five a second: 200 MB a day at worst, as JSON.
MOST_LINES = 50
WHILE_SECONDS = 10.0


class LogBound:
    """Counts lines of a logger. `say_left_out` is to be called every second or so."""

    clock = staticmethod(time.monotonic)

    def __init__(self, name: str) -> None:
        self.logger = logging.getLogger(name)
        self.since = self.clock()
        self.lines = 0
        self.left_out: Counter[str] = Counter()

    def may_say(self, kind: str) -> bool:
        """Whether there is room for one more line; counts it by its kind where there is none."""
        self.say_left_out()
        self.lines += 1
        if self.lines <= MOST_LINES:
            return True
        self.left_out[kind] += 1
        return False

    def say_left_out(self) -> None:
        """At the end of a while, say how many lines it was too short for."""
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


# Of LOG_ATTEMPTS.
WHICH_ATTEMPTS = ("failed", "all", "none")
# Of an engine loop, which has its process to itself.
ATTEMPTS = LogBound("parceldesk.attempts")
# Of a web process: what is answered before it is a request.
REFUSALS = LogBound("parceldesk.access")
