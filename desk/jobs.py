"""Jobs of the desk; metrics and job rows use the names of these functions."""

from datetime import timedelta

from core.jobs.job import job
from desk.reports import figure_cache
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
    """Send answers that agents can no longer take back, unless an open page has sent them."""
    return leaving.send_due_answers()


# Runs twice within the lifetime of cached figures, so that no lead has to wait for them.
@job(
    every=timedelta(seconds=30),
    limit_seconds=120,
    has_work=figure_cache.is_looked_at,
    in_child=True,
)
def count_figures() -> int:
    return figure_cache.count_ahead()
