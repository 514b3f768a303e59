"""Rings for a task of the tickets. The rows are the truth: a lost ring costs only time."""

import logging

from celery import current_app
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def ring(task: str) -> None:
    try:
        current_app.send_task(task, expires=30)
    except (OperationalError, OSError) as error:
        logger.warning("the broker does not answer, the next sweep does %s: %s", task, error)
