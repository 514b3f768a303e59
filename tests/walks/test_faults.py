"""Failures heal by themselves and lose nothing: small versions of tools/faults/."""

from pathlib import Path

import pytest
from django.db import connection
from kombu import Connection

from companies.models import Company
from tests.walks.conftest import SHORT_LEASE
from tools.dev.valkey import Valkey
from tools.faults import crash_loop, kills, outages, scenarios, storms, tickets
from tools.faults.feeding import Feed
from tools.faults.receiver import Receiver
from tools.faults.service import Service
from tools.faults.verdict import broken

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_killed_worker_loses_nothing(service: Service, acme: Company, receiver: Receiver) -> None:
    service.environment |= SHORT_LEASE
    feed = Feed(acme.pk, shipments=100, updates=600)

    outcome = scenarios.killed_worker(service, acme, receiver, feed)

    assert outcome["received_at_the_kill"] < 600, "the kill came too late to prove anything"
    assert outcome["lost"] == 0
    assert outcome["dishonest_repeats"] == 0
    assert outcome["out_of_order"] == 0


@pytest.mark.slow
def test_each_kill_hits_deliveries_in_flight_and_loses_nothing(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    outcome = kills.kills(service, acme, receiver, times=2, events=400, seed=1)

    assert broken(outcome) == []
    assert outcome["least_claimed_at_a_kill"] > 0
    assert 0 < outcome["repeats"] <= outcome["repeats_at_most"]


@pytest.mark.slow
def test_a_receiver_that_kills_the_worker_is_paused_and_harms_no_other(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    outcome = crash_loop.crash_loop(service, acme, receiver, events=100)

    assert crash_loop.judge(outcome) == []


def test_a_silent_broker_stops_no_delivery(
    service: Service, acme: Company, receiver: Receiver, broker: Valkey, tmp_path: Path
) -> None:
    urls = {"BROKER_URL": broker.url, "CACHE_URL": f"unix://{broker.socket}?db=1"}
    service.environment = {**service.environment, **urls}
    feed = Feed(acme.pk, shipments=20, updates=100)

    outcome = outages.silent_broker(
        service,
        acme,
        receiver,
        feed,
        stop_broker=broker.stop,
        start_broker=broker.start_and_wait,
    )

    assert outcome["received_while_down"] == 100
    assert outcome["ticket_opened_while_down"]
    assert outcome["lost"] == outcome["repeats"] == outcome["out_of_order"] == 0


@pytest.mark.slow
def test_a_broker_that_forgets_loses_nothing(
    service: Service, acme: Company, receiver: Receiver, broker: Valkey
) -> None:
    urls = {"BROKER_URL": broker.url, "CACHE_URL": f"unix://{broker.socket}?db=1"}
    service.environment = {**service.environment, **urls}
    feed = Feed(acme.pk, shipments=50, updates=500)

    with Connection(broker.url) as opened:
        flush = opened.default_channel.client.flushall
        outcome = outages.flushed_broker(service, acme, receiver, feed, flush=flush, times=2)

    assert outcome["lost"] == outcome["repeats"] == outcome["out_of_order"] == 0


@pytest.mark.slow
def test_a_database_that_drops_everybody_loses_nothing(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    outcome = outages.restarted_database(
        service,
        acme,
        receiver,
        Feed(acme.pk, shipments=50, updates=400),
        stop_database=terminate_everybody,
        start_database=lambda: None,
    )

    assert outcome["received_at_the_restart"] < 400, "it came too late to prove anything"
    assert outcome["lost"] == outcome["dishonest_repeats"] == outcome["out_of_order"] == 0


def terminate_everybody() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.slow
def test_a_storm_of_kills_loses_and_reorders_nothing(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    service.environment |= SHORT_LEASE
    feed = Feed(acme.pk, shipments=50, updates=600)

    outcome = storms.storm(
        service,
        acme,
        receiver,
        feed,
        kills=4,
        kill_backend=storms.terminate_backend,
    )

    assert broken(outcome) == []
    assert tickets.judged(outcome) == []
    # Web is killed as well, and its clients retry with the same key.
    assert 0 < outcome["tickets_answered"] == outcome["tickets_stored"]
    assert outcome["tickets_lost"] == outcome["tickets_twice"] == 0
    assert outcome["least_claimed_at_a_kill"] > 0
    assert 0 < outcome["repeats"] <= outcome["repeats_at_most"]


@pytest.mark.slow
def test_clean_restarts_lose_and_repeat_nothing(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    outcome = storms.restarts(service, acme, receiver, events=400, per_second=100, times=2)

    assert outcome["restarts"] == 2
    assert outcome["lost"] == outcome["repeats"] == outcome["out_of_order"] == 0
