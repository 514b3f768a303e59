"""Jobs of health. Their names are in metrics, and in the rows of jobs."""

from datetime import timedelta

from core.health import examining
from core.jobs.job import job
from core.watch import hosts


@job(
    every=timedelta(seconds=hosts.EVERY_SECONDS),
    limit_seconds=50,
    in_child=True,
    on_each_host=True,
)
def examine_host() -> int:
    """Run doctor's checks, which may find different things on each host."""
    return examining.examine_host()
