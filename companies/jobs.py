"""Jobs of companies. Their names are in metrics, and in the rows of jobs."""

from datetime import timedelta

from companies import retention
from core.jobs.job import job


# Often enough that a week which was in use is soon tried again. A run that reached a limit leaves
# the rest to the next one.
@job(every=timedelta(hours=6), limit_seconds=1800, batch=1, in_child=True)
def forget_what_is_old() -> int:
    return int(retention.forget_some())
