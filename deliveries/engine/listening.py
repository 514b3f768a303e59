"""Consumer of the engine's doorbell in a worker.

The main process consumes the rings itself, from a queue of their own. A ring therefore needs no
process of the pool and waits for no task, however long the queue of tasks is.
"""

from collections.abc import Callable
from typing import Any

from celery.bootsteps import ConsumerStep
from django.conf import settings
from kombu import Consumer, Message, Queue

from core.jobs.deployments import is_foreign


def listener(ring: Callable[[], None]) -> type[ConsumerStep]:
    """Return a step of Celery's consumer that calls `ring`, which must not block, per message."""

    class Listener(ConsumerStep):
        def get_consumers(self, channel: Any) -> list[Consumer]:
            return [Consumer(channel, queues=[doorbell_queue()], on_message=take)]

    def take(message: Message) -> None:
        # The content does not matter, but the sender does: the database knows what is due.
        message.ack()
        if not is_foreign(message.headers):
            ring()

    return Listener


def doorbell_queue() -> Queue:
    queue: Queue = settings.CELERY_TASK_ROUTES["deliveries.tasks.deliver"]["queue"]
    return queue
