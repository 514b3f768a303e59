"""Short-lived cache of the desk, shared by all web processes."""

import logging
from collections.abc import Callable
from typing import TypeVar

from django.core.cache import cache

logger = logging.getLogger(__name__)
T = TypeVar("T")


def cached(key: str, seconds: int, make: Callable[[], T]) -> T:
    """Return a value at most `seconds` old (never None), or a new one if the cache is down."""
    try:
        value: T | None = cache.get(f"desk:{key}")
    except Exception as error:  # each client of a cache has its own errors
        log_cache_failure(error)
        return make()
    if value is None:
        value = make()
        cache.set(f"desk:{key}", value, timeout=seconds)
    return value


def remember(key: str, seconds: int) -> None:
    """Set a flag for `seconds`; does nothing while the cache is unreachable."""
    try:
        cache.set(f"desk:{key}", True, timeout=seconds)
    except Exception as error:  # as above
        log_cache_failure(error)


def log_cache_failure(error: Exception) -> None:
    logger.warning("cannot reach the cache, nothing is cached for the desk: %s", error)
