from celery import shared_task
from django.utils.module_loading import import_string

from deliveries.upkeep.periodic import periodic_task
from tickets.assignment import automatic, loads
from tickets.automations import running
from tickets.changes import kept_files, notifications, search_entries, snoozing
from tickets.sla import recalculation


@periodic_task(limit_seconds=120, batch=automatic.MOST_AT_ONCE)
def assign_waiting() -> int:
    return automatic.assign_waiting()


@periodic_task(limit_seconds=120)
def check_loads() -> int:
    return loads.check_loads()


@periodic_task(limit_seconds=120, batch=recalculation.MOST_AT_ONCE)
def recalculate_stale() -> int:
    """Recalculate due dates that follow old rules. A change of rules rings; beat makes sure."""
    return recalculation.recalculate_stale()


@periodic_task(limit_seconds=120, batch=recalculation.MOST_AT_ONCE)
def set_late_claim_deadlines() -> int:
    return recalculation.set_late_claim_deadlines()


@periodic_task(limit_seconds=120, batch=notifications.MOST_AT_ONCE)
def notify_of_late_tickets() -> int:
    return notifications.notify_of_late_tickets() + snoozing.wake_due()


@periodic_task(limit_seconds=300, batch=running.MOST_AT_ONCE)
def run_automations() -> int:
    return running.run_automations()


@periodic_task(limit_seconds=300, batch=kept_files.MOST_AT_ONCE)
def make_thumbnails() -> int:
    """A file that came rings; beat makes sure."""
    return kept_files.make_thumbnails()


@periodic_task(limit_seconds=120, batch=kept_files.MOST_AT_ONCE)
def remove_orphans() -> int:
    return kept_files.remove_orphans()


@periodic_task(limit_seconds=120, batch=search_entries.MOST_AT_ONCE)
def add_known_shipments() -> int:
    return search_entries.add_known_shipments()


@shared_task(time_limit=60)
def count_list(company_id: int, sent: dict[str, str]) -> None:
    """Count a company's long list, whose filters are `sent`, for the next who asks for it."""
    # By name: a worker that counts none has no use for REST framework.
    import_string("tickets.api.recounting.recount")(company_id, sent)
