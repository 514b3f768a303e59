"""Recording of facts about shipments. Every writer of such facts uses this module."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from shipments.feed import applying, batch, saving
from shipments.feed.parsing import BadLine, Line

RACES = 10


@dataclass(slots=True)
class BatchOutcome:
    """Counts of a batch's lines and events, and its bad lines.

    `events` counts changes of status and surcharges, whether or not a webhook listens. `repeats`
    counts lines that were recorded before. `bad` has the index of each bad line, and the reason.
    """

    changed: int = 0
    events: int = 0
    repeats: int = 0
    bad: list[tuple[int, str]] = field(default_factory=list)


def record_facts(lines: Sequence[Line]) -> BatchOutcome:
    """Apply lines in order, all in one transaction. Bad lines are skipped and returned.

    Locks the shipments' rows until the commit, so pass at most some hundreds of lines. Raises
    saving.Raced if other runs keep writing the same rows.
    """
    for _ in range(RACES):
        try:
            return record_facts_once(lines, timezone.now())
        except saving.Raced:
            # The other run has committed by now, so the next attempt finds its rows.
            continue
    raise saving.Raced("Other ingest runs keep writing the same rows. Try again.")


@transaction.atomic
def record_facts_once(lines: Sequence[Line], now: datetime) -> BatchOutcome:
    rows = batch.fetch(lines, now)
    outcome = BatchOutcome()
    for place, line in enumerate(lines):
        try:
            effect = applying.apply(rows, line)
        except BadLine as error:
            outcome.bad.append((place, str(error)))
        else:
            outcome.changed += effect.changed
            outcome.events += effect.events
            outcome.repeats += effect.repeated
    saving.save_batch(rows)
    return outcome
