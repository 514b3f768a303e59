"""Recording of a bundle: the lines that the platform sends in one request (decision N25)."""

import time
from collections.abc import Callable
from io import BufferedIOBase
from typing import Any

from shipments.feed import ingesting
from shipments.feed.ingesting import Tally

# Proxies in front time out after a minute.
LONGEST_SECONDS = 50.0
# The sender repeats the bundle, so retries do not wait for a database that is away.
WAITS = (0.1, 0.5)
# Bad lines that the answer lists; it counts all of them.
MOST_NAMED = 100
HOLD_EVERY_SECONDS = 5.0

clock = time.monotonic


class TooLong(RuntimeError):
    """The bundle could not be recorded completely in LONGEST_SECONDS."""


def record_bundle(
    stream: BufferedIOBase, tally: Tally, hold: Callable[[], None]
) -> list[dict[str, Any]]:
    """Record the lines of `stream` as `ingest` does; return the first MOST_NAMED bad lines.

    `hold` is called every HOLD_EVERY_SECONDS. Lines that `tally` counts are committed, even if this
    raises. Raises TooLong, and Stopped if the database fails.
    """
    started = clock()
    last_hold = started
    bad: list[dict[str, Any]] = []

    def report(number: int, reason: str) -> None:
        if len(bad) < MOST_NAMED:
            bad.append({"line": number, "reason": reason})

    def advance() -> None:
        nonlocal last_hold
        now = clock()
        if now - started > LONGEST_SECONDS:
            raise TooLong
        if now - last_hold > HOLD_EVERY_SECONDS:
            hold()
            last_hold = now

    ingesting.ingest(stream, tally, report=report, advance=advance, waits=WAITS)
    return bad
