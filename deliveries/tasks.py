"""A task is a doorbell: rows are the truth, and ringing twice is harmless."""

import multiprocessing
from contextlib import closing

from celery import shared_task
from celery.signals import worker_shutting_down
from django.conf import settings
from django.db import connection
from django.utils import timezone

from deliveries import doorbell, partitions
from deliveries.engine import pausing, slots
from deliveries.engine.loop import CONCURRENCY, Engine
from deliveries.http.transport import Transport
from deliveries.models import Pulse
from deliveries.monitoring import backlog
from webhooks import target_policy

# Shared with the children that Celery forks: only their parent hears of a shutdown.
shutting_down = multiprocessing.Event()


@worker_shutting_down.connect
def stop_engines(**_: object) -> None:
    shutting_down.set()


@shared_task
def deliver() -> str:
    """Run an engine loop, unless enough of them run already."""
    with slots.engine_slot(settings.DELIVERY_LOOPS) as slot:
        if slot is None:
            return "enough engine loops are running"
        transport = Transport(
            target_policy.current_policy(),
            ca_bundle=settings.DELIVERY_CA_BUNDLE or None,
            timeout_seconds=settings.DELIVERY_TIMEOUT_SECONDS,
            concurrency=CONCURRENCY,
        )
        with closing(transport):
            attempts = Engine(transport, stop=shutting_down.is_set).run()
    # What the engine told its connection about planning is not for other tasks.
    connection.close()
    # One that was busy to its end is followed by another at once.
    if backlog.oldest_due() is not None:
        doorbell.ring_engine()
    return f"{attempts} attempts"


@shared_task
def sweep() -> None:
    """Beat's pulse: ring for whatever a lost ring or a dead worker left due."""
    Pulse.objects.update_or_create(name="sweep", defaults={"at": timezone.now()})
    partitions.cancel_deliveries_of_deleted_webhooks()
    if backlog.oldest_due() is not None:
        doorbell.ring_engine()


@shared_task
def pause_failing() -> int:
    return pausing.pause_failing()


@shared_task
def make_partitions() -> int:
    return partitions.make_partitions()
