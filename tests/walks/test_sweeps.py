"""Periodic tasks by the processes that production runs."""

from datetime import datetime

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from kombu import Connection

from companies import doorbell
from companies.models import Company
from deliveries import publishing, tasks
from deliveries.engine.listening import doorbell_queue
from deliveries.models import Delivery, Pulse
from faults.scenarios import until
from faults.service import Service
from tests import builders as build
from webhooks import services

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cancelled(acme: Company) -> None:
    """Something for the sweep to do."""
    webhook = build.webhook(acme)
    publishing.publish([build.news(acme)])
    services.delete_webhook(acme, webhook.pk)


def done(name: str) -> datetime | None:
    return Pulse.objects.filter(name=name).values_list("done_at", flat=True).first()


def test_sweeps_go_on_without_beat_and_broker(service: Service, cancelled: None) -> None:
    service.environment["BROKER_URL"] = "redis://127.0.0.1:1/0"
    service.start("worker")

    # The one at the start of each worker, the other every ten seconds.
    until(lambda: done("make_partitions") and done("sweep"))
    first = done("sweep")
    until(lambda: done("sweep") > first)

    # Beat has rung for none of it.
    assert set(Pulse.objects.values_list("at", flat=True)) == {None}
    assert not Delivery.objects.open().exists()


def test_beat_rings_where_it_is_well(service: Service, cancelled: None) -> None:
    service.start("worker")
    service.start("beat")

    until(lambda: done("sweep") and done("assign_waiting"))

    assert all(Pulse.objects.exclude(name="make_partitions").values_list("at", flat=True))
    assert not Delivery.objects.open().exists()


def test_the_doorbell_is_heard_while_every_process_of_the_pool_waits(service: Service) -> None:
    tasks.sweep()
    service.environment["WORKER_CONCURRENCY"] = "1"
    with Connection(settings.CELERY_BROKER_URL) as broker, psycopg.connect(**server()) as holder:
        channel = broker.default_channel
        queue = doorbell_queue()(channel)
        queue.declare()
        # Whoever begins a sweep waits for us.
        holder.execute("SELECT FROM deliveries_pulse FOR UPDATE")
        for _ in range(3):
            doorbell.ring("deliveries.tasks.sweep")
        service.start("worker")
        until(lambda: waits_for_a_lock())

        doorbell.ring("deliveries.tasks.deliver")

        until(lambda: queue.queue_declare().message_count == 0)
        # That one, or the next for which was rung.
        until(lambda: waits_for_a_lock())
        holder.rollback()


def server() -> dict[str, str]:
    words = connection.settings_dict
    return {"host": words["HOST"], "user": words["USER"], "dbname": words["NAME"]}


def waits_for_a_lock() -> bool:
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND datname = current_database()"
    )
    # Not on the holder's connection: a transaction sees these figures as they were at first.
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()[0] > 0
