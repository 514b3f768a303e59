"""Two deployments on one broker have no queue and no key in common (decision N29)."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from celery.signals import celeryd_init
from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, connection
from django.utils import timezone
from kombu import Connection
from pytest_django import Settings

from config import one_deployment, queues
from config.caches import beside_the_broker
from config.deployments import deployment_key
from config.server import Worker
from config.startup import EXIT_CODE
from core.jobs import deployments, doorbell
from core.models import Deployment, Pulse
from deliveries import tasks
from deliveries.engine import leases
from deliveries.engine.listening import doorbell_queue, listener
from deliveries.models import Heartbeat

DATABASE = {"HOST": "db.internal", "PORT": 5432, "NAME": "parceldesk"}


@pytest.mark.parametrize(
    "other", [{"HOST": "db2.internal"}, {"PORT": 5433}, {"NAME": "staging"}, {"HOST": ""}]
)
def test_another_database_is_another_deployment(other: dict[str, Any]) -> None:
    keys = {deployment_key("", database, "s") for database in (DATABASE, DATABASE | other)}

    assert len(keys) == 2
    assert (
        len({queues.tasks(key) for key in keys} | {queues.doorbell(key).name for key in keys}) == 4
    )


def test_localhost_on_two_machines_is_told_apart_by_the_secret_key() -> None:
    here = DATABASE | {"HOST": "localhost"}

    assert deployment_key("", here, "one") != deployment_key("", here, "two")
    assert deployment_key("", here, "one") == deployment_key(
        "", here | {"HOST": "127.0.0.1"}, "one"
    )


def test_a_name_holds_whatever_the_address() -> None:
    assert deployment_key("blue", DATABASE, "s") == deployment_key("blue", {"NAME": "x"}, "t")
    assert deployment_key("blue", DATABASE, "s") != deployment_key("green", DATABASE, "s")


def test_the_id_is_made_with_the_database_and_made_again_where_it_is_missing(db: None) -> None:
    own = str(Deployment.objects.get().uuid)
    assert deployments.deployment_id() == own

    Deployment.objects.all().delete()
    deployments.remember(None)

    assert deployments.deployment_id() == str(Deployment.objects.get().uuid) != own


@pytest.fixture(autouse=True)
def remembered_again() -> Any:
    original_id = deployments.stored_id()
    yield
    deployments.remember(None if original_id is None else deployments.UUID(original_id))


def test_no_key_of_the_cache_is_the_other_s() -> None:
    cache.set("badges", 6)
    deployments.remember(uuid4())

    assert cache.get("badges") is None
    assert settings.DEPLOYMENT_KEY in cache.make_key("badges")


def test_the_settings_name_queues_by_the_deployment() -> None:
    key = settings.DEPLOYMENT_KEY

    assert queues.tasks(key) == settings.CELERY_TASK_DEFAULT_QUEUE
    assert queues.tasks(key) == settings.CELERY_CONTROL_EXCHANGE
    route = settings.CELERY_TASK_ROUTES["deliveries.tasks.deliver"]
    assert route["queue"] == queues.doorbell(key)


def ring_as(deployment: str | None) -> None:
    deployments.remember(deployments.UUID(deployment) if deployment else None)
    doorbell.ring("deliveries.tasks.deliver")


def test_the_doorbell_of_another_deployment_is_ignored_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    own, other, rings = str(uuid4()), str(uuid4()), []
    with Connection(settings.CELERY_BROKER_URL) as opened:
        channel = opened.default_channel
        queue = doorbell_queue()(channel)
        queue.declare()
        queue.purge()
        for deployment in (other, own):
            ring_as(deployment)
        (consumer,) = listener(lambda: rings.append(None))(None).get_consumers(channel)
        with consumer:
            for _ in range(2):
                opened.drain_events(timeout=60)

        assert len(rings) == 1
        assert queue.get() is None
    assert [
        record.getMessage() for record in caplog.records if "ignoring" in record.getMessage()
    ] == [f"ignoring a doorbell of the deployment {other}; this one is {own}"]


def test_a_job_for_which_another_deployment_rings_is_not_run(
    db: None, caplog: pytest.LogCaptureFixture
) -> None:
    other, own = str(uuid4()), deployments.deployment_id()

    tasks.run_job.apply(["sweep"], headers={"deployment": other})
    assert not Pulse.objects.exists()
    assert f"ignoring a doorbell of the deployment {other}" in caplog.text

    tasks.run_job.apply(["sweep"], headers={"deployment": own})
    assert Pulse.objects.get(name="sweep").done_at


@pytest.mark.parametrize(
    ("broker", "cache_url"),
    [
        ("redis://broker:6379/5", "redis://broker:6379/1"),
        ("redis://broker", "redis://broker/1"),
        (
            "rediss://:pass@broker:6380/0?ssl_cert_reqs=none",
            "rediss://:pass@broker:6380/1?ssl_cert_reqs=none",
        ),
        ("rediss://broker/0?ssl_cert_reqs=CERT_NONE", "rediss://broker/1?ssl_cert_reqs=none"),
        (
            "rediss://broker/0?ssl_ca_certs=%2Fetc%2Fca.pem&ssl_cert_reqs=required",
            "rediss://broker/1?ssl_ca_certs=%2Fetc%2Fca.pem&ssl_cert_reqs=required",
        ),
        ("redis+socket:///run/v.sock?virtual_host=4", "unix:///run/v.sock?db=1"),
        ("amqp://broker//", "locmem://"),
    ],
)
def test_cache_url_follows_the_broker_url(broker: str, cache_url: str) -> None:
    assert beside_the_broker(broker) == cache_url


@pytest.fixture
def stored(db: None) -> Callable[[], str]:
    Deployment.objects.update_or_create(pk=1, defaults={"key": ""})
    return lambda: Deployment.objects.get().key


def test_the_first_process_stores_the_key(stored: Callable[[], str]) -> None:
    assert one_deployment.claim_database("a" * 12) == ("a" * 12, "")
    assert stored() == "a" * 12


def test_another_one_does_not_start_while_it_is_at_work(
    stored: Callable[[], str], settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(connection, "close", lambda: None)
    one_deployment.claim_database("a" * 12)
    leases.join(1)
    settings.DEPLOYMENT_KEY = "b" * 12

    with pytest.raises(SystemExit) as stopped:
        one_deployment.refuse_second_deployment()

    assert stopped.value.code == EXIT_CODE
    assert f"Set DEPLOYMENT={'a' * 12}" in capsys.readouterr().err
    assert stored() == "a" * 12
    # The settings that the refusal names are sufficient.
    settings.DEPLOYMENT_KEY = deployment_key("a" * 12, {"NAME": "x"}, "t")
    one_deployment.refuse_second_deployment()


def test_deployment_may_be_renamed_while_no_process_runs(stored: Callable[[], str]) -> None:
    one_deployment.claim_database("a" * 12)
    leases.join(1)
    Heartbeat.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    assert one_deployment.claim_database("b" * 12) == ("b" * 12, "")
    assert stored() == "b" * 12


def test_starts_while_the_database_is_away_or_not_migrated(
    monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    def away(own: str) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "close", lambda: None)
    monkeypatch.setattr(one_deployment, "claim_database", away)

    one_deployment.refuse_second_deployment()


@pytest.mark.parametrize("start", [Worker.setup, lambda: celeryd_init.send(None)])
def test_web_and_worker_ask_at_their_start(
    start: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise SystemExit(EXIT_CODE)

    for module in ("server", "celery"):
        monkeypatch.setattr(f"config.{module}.refuse_unsafe_settings", lambda: None)
        monkeypatch.setattr(f"config.{module}.refuse_second_deployment", refused)

    with pytest.raises(SystemExit):
        start()
