"""Jobs of the desk. Their names are in metrics, and in the rows of jobs."""

from datetime import timedelta

from core.jobs.job import job
from desk.reports import kept
from desk.storms import replies, services
from desk.ticket import leaving


@job(every=timedelta(minutes=1), limit_seconds=120)
def watch_for_storms() -> int:
    return len(services.watch())


@job(every=timedelta(minutes=1), limit_seconds=120, batch=replies.BATCHES)
def answer_storms() -> int:
    return replies.continue_replies()


@job(
    every=timedelta(seconds=5),
    limit_seconds=120,
    batch=leaving.MOST_AT_ONCE,
    has_work=leaving.has_due_answers,
)
def send_answers() -> int:
    """Send what agents can no longer take back. Pages that show them send theirs in time."""
    return leaving.send_due_answers()


# Twice in the time for which they are kept, so that no lead who looks waits for them.
@job(every=timedelta(seconds=30), limit_seconds=120, has_work=kept.is_looked_at, in_child=True)
def count_figures() -> int:
    return kept.count_ahead()
