"""Records a bundle: the lines that the platform sends in one request (decision N25)."""

import time
from collections.abc import Callable
from io import BufferedIOBase
from typing import Any

from shipments.feed import ingesting
from shipments.feed.ingesting import Tally

# Proxies in front wait for an answer for a minute.
LONGEST_SECONDS = 50.0
# Whoever sent the bundle repeats it, so a database that is away is not waited for.
WAITS = (0.1, 0.5)
# Bad lines that are named in the answer; all of them are counted.
MOST_NAMED = 100
HELD_EVERY_SECONDS = 5.0

clock = time.monotonic


class TooLong(RuntimeError):
    """Not all of the bundle could be recorded in LONGEST_SECONDS."""


def record_bundle(
    stream: BufferedIOBase, tally: Tally, hold: Callable[[], None]
) -> list[dict[str, Any]]:
    """Record the lines of `stream` as `ingest` does; returns the first bad lines.

    `hold` is called every few seconds. What `tally` counts is committed, whatever happens. Raises
    TooLong, and Stopped if the database fails.
    """
    begun = held = clock()
    bad: list[dict[str, Any]] = []

    def report(number: int, reason: str) -> None:
        if len(bad) < MOST_NAMED:
            bad.append({"line": number, "reason": reason})

    def advance() -> None:
        nonlocal held
        now = clock()
        if now - begun > LONGEST_SECONDS:
            raise TooLong
        if now - held > HELD_EVERY_SECONDS:
            hold()
            held = now

    ingesting.ingest(stream, tally, report=report, advance=advance, waits=WAITS)
    return bad
