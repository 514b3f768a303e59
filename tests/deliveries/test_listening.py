"""The doorbell has a queue of its own, which a worker's main process reads itself."""

from django.conf import settings
from kombu import Connection, Queue

from core.jobs import doorbell
from deliveries.engine.listening import doorbell_queue, listener


def test_hears_the_doorbell_and_takes_no_task() -> None:
    rings: list[None] = []
    with Connection(settings.CELERY_BROKER_URL) as opened:
        tasks = Queue(settings.CELERY_TASK_DEFAULT_QUEUE)(opened.default_channel)
        for queue in (tasks, doorbell_queue()(opened.default_channel)):
            queue.declare()
            queue.purge()
        doorbell.ring("deliveries.tasks.deliver")
        doorbell.ring_job("sweep")

        step = listener(lambda: rings.append(None))(None)
        (consumer,) = step.get_consumers(opened.default_channel)
        with consumer:
            opened.drain_events(timeout=60)

        assert len(rings) == 1
        # It was acknowledged, so nobody receives it again.
        assert doorbell_queue()(opened.default_channel).get() is None
        assert tasks.get().headers["task"] == doorbell.RUN_JOB
