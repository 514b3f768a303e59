"""Doorbells that start Celery tasks early. Work is in rows, so a lost ring only costs time."""

import logging
from typing import Any

from celery import current_app

from core.jobs.deployments import own_headers
from core.watch import request_ids, traces

logger = logging.getLogger(__name__)

RUN_JOB = "deliveries.tasks.run_job"


def ring(task: str, *arguments: Any, expires: int = 30) -> None:
    """Send a task by name; it is dropped if no worker takes it within `expires` seconds.

    Never raises: if the broker cannot be reached, the scheduler does the work.
    """
    try:
        current_app.send_task(task, arguments, expires=expires, headers=ring_headers())
    except Exception as error:  # a client may raise anything if its broker answers errors
        text = "cannot reach the broker, %s will run without it: %s"
        logger.warning(text, task, error, extra={"task": task})


def ring_job(name: str, *, expires: int = 30) -> None:
    """Have a worker run a job at once (core.jobs.job), under the conditions of `ring`."""
    ring(RUN_JOB, name, expires=expires)


def ring_headers() -> dict[str, str]:
    """Return headers that name the deployment, the request and the trace of a doorbell."""
    cause = {
        request_ids.CELERY_HEADER: request_ids.current(),
        traces.TRACEPARENT: traces.tracer.current_parent(),
    }
    return own_headers() | {name: value for name, value in cause.items() if value}
