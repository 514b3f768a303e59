from celery import shared_task

from tickets import assignment, rewinding


@shared_task
def assign_waiting() -> None:
    assignment.assign_waiting()


@shared_task
def rewind() -> int:
    """Wind the tickets that other rules have wound: a change of rules rings, beat makes sure."""
    return rewinding.rewind()


@shared_task
def file_late() -> int:
    return rewinding.file_late()
