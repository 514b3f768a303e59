"""Tasks that concern every app."""

from config import retention
from deliveries.upkeep.periodic import periodic_task


# A run that reached its most of something leaves the rest to the next.
@periodic_task(limit_seconds=1800, batch=1)
def forget_what_is_old() -> int:
    return int(retention.forget_some())
