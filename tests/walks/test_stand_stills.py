"""Frozen, disconnected and refusing parts: small versions of tools/faults/."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from companies.models import Company
from deliveries.models import TakenLane
from tools.dev.valkey import Valkey
from tools.faults import absences, database_outages, helpers, in_flight, scenarios
from tools.faults.feeding import publish_numbered, register_signed
from tools.faults.proxy import Proxy
from tools.faults.receiver import Receiver
from tools.faults.scenarios import until
from tools.faults.service import Service
from tools.faults.verdict import broken

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def proxy(rows_to_keep: None) -> Iterator[Proxy]:
    """Run a proxy before `service`: a worker needs its database to stop at once."""
    with Proxy(Path(connection.settings_dict["HOST"]) / ".s.PGSQL.5432") as proxy:
        yield proxy


def address_through(proxy: Proxy) -> str:
    database = connection.settings_dict
    return f"postgres://{database['USER']}@127.0.0.1:{proxy.port}/{database['NAME']}"


@pytest.mark.slow
def test_another_worker_takes_over_from_a_frozen_one(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    outcome = absences.worker_away(
        service, acme, receiver, away=service.frozen, seconds=8.0, per_second=20.0
    )

    # A loop may freeze between checking its lease and sending: one request of each.
    taken_over(outcome, repeats_after=outcome["loops_that_went"])


def test_the_same_worker_takes_over_from_its_only_loop_that_is_frozen(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    webhook = register_signed(acme, receiver)
    service.start("worker")
    until(lambda: len(in_flight.loops_of(service, "worker")) == 1)
    (loop,) = in_flight.loops_of(service, "worker")

    with helpers.suspended(loop.process_id):
        # The webhook is that loop's until its lease has run out.
        TakenLane.objects.create(webhook_id=webhook.pk, loop_id=loop.pk)
        publish_numbered(acme, range(3))
        until(scenarios.nothing_waits)
        (other,) = in_flight.loops_of(service, "worker")

    assert other.process_id != loop.process_id
    assert len(receiver.log) == 3


@pytest.mark.slow
def test_another_worker_takes_over_from_one_that_is_cut_off(
    proxy: Proxy, service: Service, acme: Company, receiver: Receiver
) -> None:
    outcome = absences.worker_away(
        service,
        acme,
        receiver,
        away=lambda _: proxy.silent(),
        seconds=8.0,
        per_second=20.0,
        through=("env", f"DATABASE_URL={address_through(proxy)}"),
    )

    taken_over(outcome)


def taken_over(outcome: dict[str, Any], repeats_after: int = 0) -> None:
    assert broken(outcome) == []
    assert outcome["claimed_by_the_one_that_went"] > 0
    assert outcome["seconds_to_the_last_of_those_claimed"] is not None
    # Repeats are the requests that it had sent and not recorded, and no more.
    assert 0 < outcome["repeats"] <= outcome["repeats_at_most"]
    assert outcome["repeats_after_it_was_back"] <= repeats_after
    assert outcome["recorded_twice"] == 0


def test_while_the_database_is_silent_the_api_says_so_and_no_receiver_is_blamed(
    proxy: Proxy, service: Service, acme: Company, receiver: Receiver
) -> None:
    service.environment["DATABASE_URL"] = address_through(proxy)

    outcome = database_outages.database_stands_still(
        service, acme, receiver, still=proxy.silent, seconds=12.0, per_second=20.0
    )

    assert outcome["api_answers"] == [200, 503]
    assert_nobody_was_blamed(outcome)


@pytest.mark.slow
def test_a_lock_on_the_attempts_is_no_failure_of_a_receiver(
    service: Service, acme: Company, receiver: Receiver
) -> None:
    outcome = database_outages.database_stands_still(
        service,
        acme,
        receiver,
        still=database_outages.attempts_locked,
        seconds=9.0,
        per_second=20.0,
    )

    assert outcome["api_answers"] == [200]
    assert_nobody_was_blamed(outcome)


def assert_nobody_was_blamed(outcome: dict[str, Any]) -> None:
    assert broken(outcome) == []
    assert outcome["healthz_answers"] == [200]
    assert outcome["failed_attempts"] == 0
    assert outcome["repeats"] <= outcome["repeats_at_most"]


@pytest.mark.slow
def test_a_broker_that_refuses_everything_stops_no_delivery(
    service: Service, acme: Company, receiver: Receiver, broker: Valkey
) -> None:
    urls = {"BROKER_URL": broker.url, "CACHE_URL": f"unix://{broker.socket}?db=1"}
    service.environment = {**service.environment, **urls}
    outcome = helpers.helper_away(
        service,
        acme,
        receiver,
        away=lambda: helpers.refusing_writes(broker.url),
        seconds=5.0,
        per_second=20.0,
    )

    assert_nobody_was_missed(outcome)


def assert_nobody_was_missed(outcome: dict[str, Any]) -> None:
    assert broken(outcome) == []
    assert outcome["delivered_meanwhile"] > 0
    assert outcome["repeats"] == outcome["retries_in_all"]
    assert outcome["retries"] > 0
    assert outcome["ticket_opened_meanwhile"]
