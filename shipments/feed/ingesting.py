"""Import of the shipping platform's feed from a stream into the database, in batches."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BufferedIOBase

from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, connection

from core.measures import catalogue, counting, sums
from shipments.feed import reading, recording
from shipments.feed.parsing import BadLine, Line
from shipments.feed.saving import Raced

# Lines per transaction: enough to make the statements cheap, few enough to hold locks briefly.
BATCH_LINES = 500
# A deadlock is resolved at once; a restart of the database takes some seconds.
RETRY_SECONDS = (0.1, 0.5, 2.0, 5.0, 10.0)


class Stopped(RuntimeError):
    """The database still fails after all retries; the message says why."""


@dataclass(slots=True)
class Tally:
    """Progress of a run. `reached` is the last line of the last finished batch.

    `repeats` counts lines that were recorded before.
    """

    read: int = 0
    changed: int = 0
    events: int = 0
    repeats: int = 0
    bad: int = 0
    reached: int = 0
    bytes: int = 0


Numbered = Sequence[tuple[int, Line]]
Bad = list[tuple[int, str]]


def ingest(
    stream: BufferedIOBase,
    tally: Tally,
    *,
    report: Callable[[int, str], None],
    advance: Callable[[], None],
    waits: Sequence[float] | None = None,
) -> None:
    """Record every line of `stream`, update `tally`, and `report` each bad line once, in order.

    `advance` is called after each update of `tally`. Lines that `tally` counts are committed, even
    if the run is interrupted. `waits` are the seconds before each retry after a failure of the
    database, by default RETRY_SECONDS. Raises Stopped, and OSError if the stream cannot be read.
    """
    waits = RETRY_SECONDS if waits is None else waits
    for group in reading.groups(stream, BATCH_LINES):
        lines, unreadable = parse_group(group)
        outcome = record_lines(lines, waits)
        bad = sorted(unreadable + outcome.bad)
        count_lines(len(lines) + len(unreadable), outcome, len(bad))
        tally.read += len(lines) + len(unreadable)
        tally.changed += outcome.changed
        tally.events += outcome.events
        tally.repeats += outcome.repeats
        tally.bad += len(bad)
        tally.reached = group[-1][0]
        tally.bytes += sum(len(raw) + 1 for _, raw in group)
        for number, reason in bad:
            report(number, reason)
        advance()


def count_lines(read: int, outcome: recording.BatchOutcome, bad: int) -> None:
    results = {"changed": outcome.changed, "known": outcome.repeats, "bad": bad}
    # A new line may also report the current state.
    results["unchanged"] = max(0, read - sum(results.values()))
    for result, number in results.items():
        counting.count(catalogue.FEED_LINES, result, by=number)
    # A run may take days, and its counts must be visible before its end.
    sums.write_if_due()


def parse_group(group: list[tuple[int, bytes]]) -> tuple[list[tuple[int, Line]], Bad]:
    lines, bad = [], []
    for number, raw in group:
        try:
            line = reading.read(number, raw)
        except BadLine as error:
            bad.append((number, str(error)))
        else:
            if line is not None:
                lines.append((number, line))
    return lines, bad


def record_lines(lines: Numbered, waits: Sequence[float]) -> recording.BatchOutcome:
    """Record lines in one transaction. If the database rejects a row, find its line by halving.

    The outcome has bad lines by line number. Raises Stopped.
    """
    if not lines:
        return recording.BatchOutcome()
    try:
        outcome = record_with_retries([line for _, line in lines], waits)
    except (DataError, IntegrityError) as error:
        if len(lines) == 1:
            return recording.BatchOutcome(
                bad=[(lines[0][0], f"the database rejects it: {brief(error)}")]
            )
        middle = len(lines) // 2
        return add_outcomes(
            record_lines(lines[:middle], waits), record_lines(lines[middle:], waits)
        )
    outcome.bad = [(lines[place][0], reason) for place, reason in outcome.bad]
    return outcome


def record_with_retries(lines: list[Line], waits: Sequence[float]) -> recording.BatchOutcome:
    """Retry after a deadlock, a lost connection, or Raced. Raises Stopped after the last retry."""
    for wait in (*waits, None):
        try:
            return recording.record_facts(lines)
        except (DataError, IntegrityError):
            raise
        except (DatabaseError, InterfaceError, Raced) as error:
            if wait is None:
                raise Stopped(brief(error)) from error
            connection.close_if_unusable_or_obsolete()
            time.sleep(wait)
    raise AssertionError("unreachable")


def add_outcomes(
    one: recording.BatchOutcome, other: recording.BatchOutcome
) -> recording.BatchOutcome:
    return recording.BatchOutcome(
        one.changed + other.changed,
        one.events + other.events,
        one.repeats + other.repeats,
        one.bad + other.bad,
    )


def brief(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
