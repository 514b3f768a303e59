from celery import shared_task

from tickets.assignment import automatic
from tickets.sla import recalculation


@shared_task
def assign_waiting() -> None:
    automatic.assign_waiting()


@shared_task
def recalculate_stale() -> int:
    """Recalculate due dates that follow old rules. A change of rules rings; beat makes sure."""
    return recalculation.recalculate_stale()


@shared_task
def set_late_claim_deadlines() -> int:
    return recalculation.set_late_claim_deadlines()
