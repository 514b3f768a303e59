"""Tasks are doorbells: rows are the truth, and ringing twice is harmless."""

from typing import Any

from celery import Task, shared_task
from celery.signals import worker_init, worker_shutdown, worker_shutting_down
from django.conf import settings

from core.jobs import deployments, doorbell
from core.jobs.bell import Bell
from core.jobs.job import all_jobs
from core.jobs.scheduler import run_scheduler
from core.watch import traces
from deliveries.engine.listening import listener
from deliveries.engine.processes import LoopKeeper

# Created before a worker forks, so that all of its processes share them.
bells = [Bell() for _ in range(settings.DELIVERY_LOOPS)]
keeper = LoopKeeper(bells, [run_scheduler])


def ring_all() -> None:
    for bell in bells:
        bell.ring()


@worker_init.connect
def start_loops(sender: Any, **_: object) -> None:
    """Start the worker's loops in the worker itself: sending and jobs do not need the broker."""
    keeper.start()
    sender.app.steps["consumer"].add(listener(ring_all))


@worker_shutting_down.connect
def begin_to_stop_loops(**_: object) -> None:
    keeper.ask_to_stop()


@worker_shutdown.connect
def stop_loops(**_: object) -> None:
    keeper.stop()


@shared_task
def deliver() -> None:
    """Make the engine loops of this worker look for due deliveries at once.

    A worker's main process does this itself when the doorbell rings. This task is for versions
    that ring through the queue of tasks, as they do not know the doorbell's own.
    """
    ring_all()


@shared_task(bind=True)
def run_job(self: Task[[str], None], name: str) -> None:
    """Run a job that has work (core.jobs.job), and ring again if it leaves some."""
    # Loads our own id, as `is_foreign` does not query it (decision N29).
    deployments.deployment_id()
    if deployments.is_foreign(self.request.headers):
        return
    job = all_jobs()[name]
    with traces.tracer.span(name, job=name):
        result = job.run_within_limit()
    if job.has_more(result):
        doorbell.ring_job(name, expires=60)
