"""A task is a doorbell: rows are the truth, and ringing twice is harmless."""

from typing import Any

from celery import shared_task
from celery.signals import worker_init, worker_shutdown, worker_shutting_down
from django.conf import settings

from deliveries import mailing
from deliveries.engine import pausing
from deliveries.engine.bell import Bell
from deliveries.engine.listening import listener
from deliveries.engine.processes import LoopKeeper
from deliveries.upkeep import deleted_webhooks, partitions
from deliveries.upkeep.housekeeping import keep_house
from deliveries.upkeep.periodic import periodic_task

# Made before a worker forks, so that all of its processes share them.
bells = [Bell() for _ in range(settings.DELIVERY_LOOPS)]
keeper = LoopKeeper(bells, [keep_house])


def ring_all() -> None:
    for bell in bells:
        bell.ring()


@worker_init.connect
def start_loops(sender: Any, **_: object) -> None:
    """A worker runs its loops itself: sending needs neither the broker nor beat."""
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
    """Have the engine loops of this worker look at once for what is due.

    A worker's main process does this itself when it is rung for. What rings through the queue of
    tasks is a version that does not know the doorbell's own.
    """
    ring_all()


# Often: a run that was killed must not keep its kind for long. Where one cancels something there
# may be more.
@periodic_task(limit_seconds=15, batch=1)
def sweep() -> int:
    """Beat's pulse, and what is left over from webhooks that were deleted."""
    return deleted_webhooks.cancel_deliveries()


@periodic_task(limit_seconds=120)
def pause_failing() -> int:
    return pausing.pause_failing()


@periodic_task(limit_seconds=mailing.LIMIT_SECONDS, batch=mailing.MOST_AT_ONCE)
def send_mails() -> int:
    return mailing.send_due()


@periodic_task(limit_seconds=1800)
def make_partitions() -> int:
    return partitions.make_partitions()
