"""Jobs of deliveries. Their names appear in metrics and in the rows of jobs."""

from datetime import timedelta

from core.jobs.job import job
from deliveries.engine import pausing
from deliveries.upkeep import deleted_webhooks, indexes, partitions, replaying


# Frequent, as it shows that schedulers are alive. If it cancelled anything, there may be more.
@job(every=timedelta(seconds=10), limit_seconds=15, batch=1)
def sweep() -> int:
    """Cancel the pending deliveries of deleted webhooks."""
    return deleted_webhooks.cancel_deliveries()


@job(every=timedelta(minutes=5), limit_seconds=120)
def pause_failing() -> int:
    return pausing.pause_failing()


@job(every=replaying.STEP, limit_seconds=60, has_work=replaying.is_under_way)
def step_replays() -> int:
    """Take the runs that send deliveries again a step further."""
    return replaying.step_replays()


# More often than partitions weeks ahead need, to notice rows that fell outside of them.
@job(every=timedelta(hours=1), limit_seconds=1800, in_child=True, at_start=True)
def make_partitions() -> int:
    return partitions.make_partitions()


@job(every=timedelta(hours=1), limit_seconds=600, in_child=True)
def rebuild_indexes() -> int:
    """Rebuild the indexes of the queue that a long transaction has left large and empty."""
    return indexes.rebuild_indexes()
