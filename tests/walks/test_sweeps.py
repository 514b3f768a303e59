"""Jobs run by production's processes."""

import os
import signal
from datetime import datetime

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from kombu import Connection

from companies.models import Company
from core.jobs import doorbell
from core.models import Pulse
from deliveries import jobs, publishing
from deliveries.engine.listening import doorbell_queue
from deliveries.models import Delivery
from tests import builders as build
from tools.faults.processes import children_of
from tools.faults.scenarios import until
from tools.faults.service import Service
from webhooks import services

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cancelled(acme: Company) -> None:
    """Create a delivery for the sweep to cancel."""
    webhook = build.webhook(acme)
    publishing.publish([build.news(acme)])
    services.delete_webhook(acme, webhook.pk)


def last_success(name: str) -> datetime | None:
    return Pulse.objects.filter(name=name).values_list("done_at", flat=True).first()


@pytest.mark.slow
def test_sweeps_go_on_without_a_broker(service: Service, cancelled: None) -> None:
    service.environment["BROKER_URL"] = "redis://127.0.0.1:1/0"
    service.start("worker")

    # The first job runs at the start of each worker, the other every ten seconds.
    until(lambda: last_success("make_partitions") and last_success("sweep"))
    wait_for_another_sweep()

    assert not Delivery.objects.open().exists()


@pytest.mark.slow
def test_jobs_go_on_where_a_scheduler_is_killed(service: Service) -> None:
    service.start("worker", "first")
    until(lambda: last_success("sweep"))
    service.start("worker", "second")
    processes = kept_processes(service, "first")
    killed = processes[-1]

    os.kill(killed, signal.SIGKILL)

    wait_for_another_sweep()
    # The keeper starts another scheduler, which does all the work if it must.
    until(lambda: has_another(killed, len(processes), kept_processes(service, "first")))
    service.kill("second")
    wait_for_another_sweep()


def has_another(killed: int, count: int, processes: list[int]) -> bool:
    return killed not in processes and len(processes) == count


def wait_for_another_sweep() -> None:
    last = last_success("sweep")
    until(lambda: last_success("sweep") > last)


def kept_processes(service: Service, worker: str) -> list[int]:
    """Return the engine loops of a worker and, as the keeper forks it last, its scheduler."""
    parts = children_of(service.processes[worker].pid)
    # Processes of the pool fork nothing.
    (engine_processes,) = filter(None, map(children_of, parts))
    return engine_processes


@pytest.mark.slow
def test_the_doorbell_is_heard_while_every_process_of_the_pool_waits(service: Service) -> None:
    # Keep schedulers from running it for minutes.
    jobs.pause_failing()
    service.environment["WORKER_CONCURRENCY"] = "1"
    with Connection(settings.CELERY_BROKER_URL) as broker, psycopg.connect(**server()) as holder:
        channel = broker.default_channel
        queue = doorbell_queue()(channel)
        queue.declare()
        # The next run of it waits for this lock.
        holder.execute("SELECT FROM core_pulse FOR UPDATE")
        for _ in range(3):
            doorbell.ring_job("pause_failing")
        service.start("worker")
        until(lambda: waits_for_a_lock())

        doorbell.ring("deliveries.tasks.deliver")

        until(lambda: queue.queue_declare().message_count == 0)
        # The waiting run may be this one, or the next one that was rung for.
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
    # Use another connection: the holder's transaction sees its first snapshot of these figures.
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()[0] > 0
