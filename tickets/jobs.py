"""Jobs of tickets. Metrics and the rows of jobs have their names."""

from datetime import timedelta

from core.jobs.job import job
from tickets.assignment import automatic, loads
from tickets.automations import running
from tickets.changes import file_upkeep, notifications, search_entries, snoozing
from tickets.sla import recalculation


@job(
    every=timedelta(seconds=10),
    limit_seconds=120,
    batch=automatic.MOST_AT_ONCE,
    has_work=automatic.has_waiting,
)
def assign_waiting() -> int:
    return automatic.assign_waiting()


@job(every=timedelta(minutes=5), limit_seconds=120)
def check_loads() -> int:
    return loads.check_loads()


@job(every=timedelta(minutes=1), limit_seconds=120, batch=recalculation.MOST_AT_ONCE)
def recalculate_stale() -> int:
    """Recalculate due dates that follow old rules; a change of rules rings the doorbell."""
    return recalculation.recalculate_stale()


@job(every=timedelta(minutes=5), limit_seconds=120, batch=recalculation.MOST_AT_ONCE)
def set_late_claim_deadlines() -> int:
    return recalculation.set_late_claim_deadlines()


@job(every=timedelta(minutes=1), limit_seconds=120, batch=notifications.MOST_AT_ONCE)
def notify_of_late_tickets() -> int:
    return notifications.notify_of_late_tickets() + snoozing.wake_due()


@job(every=timedelta(minutes=1), limit_seconds=300, batch=running.MOST_AT_ONCE)
def run_automations() -> int:
    return running.run_automations()


@job(
    every=timedelta(minutes=1),
    limit_seconds=300,
    batch=file_upkeep.MOST_AT_ONCE,
    has_work=file_upkeep.lacks_thumbnails,
    in_child=True,
)
def make_thumbnails() -> int:
    """Create thumbnails of files; a new file rings the doorbell."""
    return file_upkeep.make_thumbnails()


@job(every=timedelta(minutes=10), limit_seconds=120, batch=file_upkeep.MOST_AT_ONCE)
def remove_orphans() -> int:
    return file_upkeep.remove_orphans()


@job(every=timedelta(minutes=1), limit_seconds=120, batch=search_entries.MOST_AT_ONCE)
def add_known_shipments() -> int:
    return search_entries.add_known_shipments()
