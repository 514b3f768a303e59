"""Jobs that concern every app. Their names are in metrics, and in the rows of jobs."""

from datetime import timedelta

from config import examining, retention
from core.jobs.job import job
from core.watch import hosts


# Often enough that a week which was in use has its next turn soon. A run that reached its most of
# something leaves the rest to the next.
@job(every=timedelta(hours=6), limit_seconds=1800, batch=1, in_child=True)
def forget_what_is_old() -> int:
    return int(retention.forget_some())


@job(
    every=timedelta(seconds=hosts.EVERY_SECONDS),
    limit_seconds=50,
    in_child=True,
    on_each_host=True,
)
def examine_host() -> int:
    """Run doctor's checks, which may find different things on each host."""
    return examining.examine_host()
