"""A task is a doorbell: rows are the truth, and ringing twice is harmless."""

from celery import shared_task
from celery.signals import worker_init, worker_shutdown, worker_shutting_down
from django.conf import settings
from django.utils import timezone

from deliveries import partitions
from deliveries.engine import pausing
from deliveries.engine.bell import Bell
from deliveries.engine.processes import LoopKeeper
from deliveries.models import Pulse

# Made before a worker forks, so that all of its processes share them.
bells = [Bell() for _ in range(settings.DELIVERY_LOOPS)]
keeper = LoopKeeper(bells)


@worker_init.connect
def start_loops(**_: object) -> None:
    """A worker runs its loops itself: sending needs neither the broker nor beat."""
    keeper.start()


@worker_shutting_down.connect
def begin_to_stop_loops(**_: object) -> None:
    keeper.ask_to_stop()


@worker_shutdown.connect
def stop_loops(**_: object) -> None:
    keeper.stop()


@shared_task
def deliver() -> None:
    """Have the engine loops of this worker look at once for what is due."""
    for bell in bells:
        bell.ring()


@shared_task
def sweep() -> None:
    """Beat's pulse, and what is left over from webhooks that were deleted."""
    Pulse.objects.update_or_create(name="sweep", defaults={"at": timezone.now()})
    partitions.cancel_deliveries_of_deleted_webhooks()


@shared_task
def pause_failing() -> int:
    return pausing.pause_failing()


@shared_task
def make_partitions() -> int:
    return partitions.make_partitions()
