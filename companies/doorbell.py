"""Rings for Celery tasks. The rows are the truth: a lost ring costs only time."""

import logging
from typing import Any

from celery import current_app
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def ring(task: str, *arguments: Any, expires: int = 30) -> None:
    """Ask for a task by name; nobody runs it once `expires` seconds have passed. Never raises."""
    try:
        current_app.send_task(task, arguments, expires=expires)
    except (OperationalError, OSError) as error:
        logger.warning("cannot reach the broker, the next sweep will run %s: %s", task, error)
