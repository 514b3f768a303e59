"""Retention of deliveries, with their attempts and events, and of runs that sent them again."""

from datetime import datetime

from core.retention import Sweep, kind
from deliveries.models import Replay
from deliveries.upkeep import pruning


def old_weeks(before: datetime) -> list[str]:
    # Events are kept as long as any of their deliveries.
    logs = (pruning.ATTEMPTS, pruning.DELIVERIES)
    return [week for log in logs for week in pruning.weeks_before(log, before)]


@kind("deliveries", old_weeks=old_weeks)
def forget_deliveries(sweep: Sweep, before: datetime) -> None:
    pruned = pruning.prune(
        before,
        tell=sweep.lines.append,
        show=sweep.show,
        dry_run=sweep.dry_run,
        only_weeks=sweep.only_weeks,
    )
    sweep.rows["deliveries"] = pruned.rows
    sweep.kept_weeks += pruned.kept_weeks
    runs = Replay.objects.filter(ended_at__lt=before).order_by("pk")
    sweep.delete("deliveries", runs, "runs of deliveries sent again")
