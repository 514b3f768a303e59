"""Wake the engine: cheap, and allowed to fail, as the sweep of beat finds what it missed."""

import logging
import time

from celery import current_app
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

# An engine loop goes on looking for a while after its last find (engine.LINGER_SECONDS), so a
# ring this soon after another would wake nobody.
PAUSE_SECONDS = 0.25

_last_ring = 0.0


def ring() -> None:
    """Ask for an engine loop, at most every PAUSE_SECONDS of this process. Never raises."""
    global _last_ring
    now = time.monotonic()
    if now - _last_ring < PAUSE_SECONDS:
        return
    _last_ring = now
    try:
        current_app.send_task("deliveries.tasks.deliver", expires=10)
    except (OperationalError, OSError) as error:
        logger.warning("the broker does not answer, the sweep will ring: %s", error)
