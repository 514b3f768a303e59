"""Caches that count requests."""

import pytest
from pytest_django import Settings

from config import caches, pages


@pytest.mark.parametrize(
    ("broker", "cache"),
    [
        ("redis+socket:///run/valkey.sock", "unix:///run/valkey.sock?db=1"),
        ("redis+socket:///run/valkey.sock?virtual_host=3", "unix:///run/valkey.sock?db=1"),
        ("redis://broker.internal:6379/0", "redis://broker.internal:6379/1"),
        ("rediss://:secret@broker.internal", "rediss://:secret@broker.internal/1"),
        ("amqp://broker.internal", "locmem://"),
    ],
)
def test_cache_is_on_the_broker_server_in_a_database_of_its_own(broker: str, cache: str) -> None:
    """Keep the cache apart from the broker: clearing it must not lose a task."""
    assert caches.beside_the_broker(broker) == cache


def test_hanging_cache_times_out() -> None:
    (cache,) = caches.caches("redis://broker.internal/1", prefix="ours").values()

    assert cache["KEY_PREFIX"] == "ours"
    assert cache["OPTIONS"] == {"socket_timeout": 0.2, "socket_connect_timeout": 0.2}


@pytest.mark.parametrize(
    ("environment", "badge"), [("test", ["test", "warning"]), ("production", None)]
)
def test_the_desk_says_where_nothing_is_real(
    settings: Settings, environment: str, badge: list[str] | None
) -> None:
    settings.ENVIRONMENT = environment

    assert pages.environment_badge(None) == badge
