"""Jobs by the processes that production runs."""

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
    """Something for the sweep to do."""
    webhook = build.webhook(acme)
    publishing.publish([build.news(acme)])
    services.delete_webhook(acme, webhook.pk)


def done(name: str) -> datetime | None:
    return Pulse.objects.filter(name=name).values_list("done_at", flat=True).first()


def test_sweeps_go_on_without_a_broker(service: Service, cancelled: None) -> None:
    service.environment["BROKER_URL"] = "redis://127.0.0.1:1/0"
    service.start("worker")

    # The one at the start of each worker, the other every ten seconds.
    until(lambda: done("make_partitions") and done("sweep"))
    wait_for_another_sweep()

    assert not Delivery.objects.open().exists()


@pytest.mark.slow
def test_jobs_go_on_where_a_scheduler_is_killed(service: Service) -> None:
    service.start("worker", "first")
    until(lambda: done("sweep"))
    service.start("worker", "second")
    kept = kept_processes(service, "first")
    killed = kept[-1]

    os.kill(killed, signal.SIGKILL)

    wait_for_another_sweep()
    # Another is started in its place, and does the work alone where it has to.
    until(lambda: has_another(killed, len(kept), kept_processes(service, "first")))
    service.kill("second")
    wait_for_another_sweep()


def has_another(killed: int, count: int, kept: list[int]) -> bool:
    return killed not in kept and len(kept) == count


def wait_for_another_sweep() -> None:
    last = done("sweep")
    until(lambda: done("sweep") > last)


def kept_processes(service: Service, worker: str) -> list[int]:
    """Return the engine loops of a worker and, as the keeper forks it last, its scheduler."""
    parts = children_of(service.processes[worker].pid)
    # Processes of the pool fork nothing.
    (kept,) = filter(None, map(children_of, parts))
    return kept


@pytest.mark.slow
def test_the_doorbell_is_heard_while_every_process_of_the_pool_waits(service: Service) -> None:
    # Keeps schedulers from running it for minutes.
    jobs.pause_failing()
    service.environment["WORKER_CONCURRENCY"] = "1"
    with Connection(settings.CELERY_BROKER_URL) as broker, psycopg.connect(**server()) as holder:
        channel = broker.default_channel
        queue = doorbell_queue()(channel)
        queue.declare()
        # Whoever begins it again waits for us.
        holder.execute("SELECT FROM core_pulse FOR UPDATE")
        for _ in range(3):
            doorbell.ring_job("pause_failing")
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
