"""Two deployments on one broker have no queue and no key in common (decision N29)."""

from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.cache import cache
from kombu import Connection

from companies import deployments, doorbell
from companies.models import Deployment
from config import queues
from config.caches import beside_the_broker
from config.deployments import deployment_key
from deliveries import tasks
from deliveries.engine.listening import doorbell_queue, listener
from deliveries.models import Pulse

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
    known = deployments.known_id()
    yield
    deployments.remember(None if known is None else deployments.UUID(known))


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


def test_a_task_for_which_another_deployment_rings_is_not_run(
    db: None, caplog: pytest.LogCaptureFixture
) -> None:
    other, own = str(uuid4()), deployments.deployment_id()

    assert tasks.sweep.apply(headers={"deployment": other}).result is None
    assert not Pulse.objects.exists()
    assert f"ignoring a doorbell of the deployment {other}" in caplog.text

    assert tasks.sweep.apply(headers={"deployment": own}).result == 0
    # Beat, and versions before this one, do not say whose they are.
    assert tasks.sweep.apply().result == 0


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
def test_the_cache_beside_the_broker_is_reached_as_the_broker_is(
    broker: str, cache_url: str
) -> None:
    assert beside_the_broker(broker) == cache_url
