"""Floods of one line in a log: of a repeated line only the beginning and the end are written.

A process that has lost its broker or its database says so many times a second, some of it with a
traceback. Lines count as the same if they differ in numbers alone.
"""

import logging
import os
import re
import threading
import time
from dataclasses import dataclass

from core.watch.process_kinds import at_process_end

# More lines than this in WHILE_SECONDS are a flood. It is over after QUIET_SECONDS without one.
MOST_LINES, WHILE_SECONDS = 5, 60.0
QUIET_SECONDS = 30.0
# A long flood is reported again, for readers of a later hour's log.
REMIND_SECONDS = 3600.0
LOOK_EVERY_SECONDS = 1.0
# Loggers whose lines differ in what matters, or that core.watch.log_bound bounds.
OTHERS = ("parceldesk.access", "parceldesk.attempts")
MOST_KINDS = 1_000
LONGEST_TEXT = 300
# Ids and numbers, such as the seconds until the next try.
VARYING = re.compile(r"\b[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}\b|\d+(?:\.\d+)?|0x[0-9a-f]+")

Kind = tuple[str, int, str, str]


@dataclass(slots=True)
class Repetition:
    """One kind of line: `count` since `since`, and once it is a flood the lines `left_out`."""

    first: logging.LogRecord
    text: str
    since: float
    last: float
    count: int = 1
    left_out: int = 0
    floods: bool = False


class FloodFilter(logging.Filter):
    """Filter of a handler. A thread reports the end of a flood; it exists only during one."""

    clock = staticmethod(time.monotonic)

    def __init__(self) -> None:
        super().__init__()
        self.forget()

    def forget(self) -> None:
        """Reset, as in a child: lines that were left out before the fork are its parent's."""
        self.lock = threading.Lock()
        self.kinds: dict[Kind, Repetition] = {}
        self.watch: threading.Thread | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name in OTHERS or hasattr(record, "of_flood"):
            return True
        message, now = record.getMessage(), self.clock()
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        kind = record.name, record.levelno, VARYING.sub("#", message), error
        begins = None
        with self.lock:
            entry = self.kinds.get(kind)
            if entry is None or (not entry.floods and now - entry.since > WHILE_SECONDS):
                if len(self.kinds) >= MOST_KINDS:
                    self.drop_others()
                text = message.partition("\n")[0][:LONGEST_TEXT]
                self.kinds[kind] = Repetition(record, text, now, now)
                return True
            entry.count, entry.last = entry.count + 1, now
            if entry.floods:
                entry.left_out += 1
            elif entry.count <= MOST_LINES:
                return True
            else:
                begins, entry.floods, entry.left_out, entry.since = entry, True, 1, now
                self.begin_watching()
        if begins:
            write_flood_line(begins, "more such lines are left out until they end: %s", begins.text)
        return False

    def drop_others(self) -> None:
        self.kinds = {kind: each for kind, each in self.kinds.items() if each.floods}

    def begin_watching(self) -> None:
        if self.watch is None:
            self.watch = threading.Thread(target=self.watch_floods, name="log floods", daemon=True)
            self.watch.start()

    def watch_floods(self) -> None:
        own = self.watch
        while own is self.watch and self.say_what_ended():
            time.sleep(LOOK_EVERY_SECONDS)

    def say_what_ended(self, *, all_of_them: bool = False) -> bool:
        """Log the lines left out of floods that are over; return whether others go on."""
        now = self.clock()
        over: list[tuple[Repetition, int, float]] = []
        with self.lock:
            for kind, each in list(self.kinds.items()):
                quiet = all_of_them or now - each.last >= QUIET_SECONDS
                if each.floods and (quiet or now - each.since >= REMIND_SECONDS):
                    over.append((each, each.left_out, max(each.last - each.since, 0.0)))
                    each.left_out, each.since = 0, now
                    if quiet:
                        del self.kinds[kind]
            goes_on = any(each.floods for each in self.kinds.values())
            if not goes_on:
                self.watch = None
        for each, count, seconds in over:
            write_flood_line(
                each, "%d more such lines in %.0f s: %s", count, seconds, each.text, left_out=count
            )
        return goes_on

    def end(self) -> None:
        """Log what was left out, as the process ends."""
        self.say_what_ended(all_of_them=True)


def write_flood_line(
    repetition: Repetition, text: str, *values: object, left_out: int | None = None
) -> None:
    """Write a line about a flood as the logger, and at the level, of its lines."""
    of = repetition.first
    line = logging.LogRecord(of.name, of.levelno, of.pathname, of.lineno, text, values, None)
    line.__dict__ |= {"of_flood": True, "request_id": "-", "left_out": left_out}
    logging.getLogger(of.name).handle(line)


def end_floods() -> None:
    """Report open floods as the process ends, when its log may be closed already."""
    logging.raiseExceptions = False
    FLOODS.end()


FLOODS = FloodFilter()
os.register_at_fork(after_in_child=FLOODS.forget)
at_process_end(end_floods)
