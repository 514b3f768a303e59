"""Tasks that concern every app."""

from celery import shared_task

from config import examining, retention
from deliveries.upkeep.periodic import PeriodicTask, periodic_task


# A run that reached its most of something leaves the rest to the next.
@periodic_task(limit_seconds=1800, batch=1)
def forget_what_is_old() -> int:
    return int(retention.forget_some())


@shared_task(base=PeriodicTask, time_limit=50)
def examine_host() -> int:
    """Run doctor's checks. Each worker's housekeeping does, as hosts may find different things."""
    return examining.examine_host()
