from celery import shared_task

from tickets.assignment import automatic
from tickets.sla import recalculation


@shared_task
def assign_waiting() -> None:
    automatic.assign_waiting()


@shared_task
def rewind() -> int:
    """Wind the tickets that other rules have wound: a change of rules rings, beat makes sure."""
    return recalculation.rewind()


@shared_task
def file_late() -> int:
    return recalculation.file_late()
