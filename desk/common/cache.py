"""What the desk may know a little late, kept in the cache that all web processes share."""

import logging
from collections.abc import Callable
from typing import TypeVar

from django.core.cache import cache

logger = logging.getLogger(__name__)
T = TypeVar("T")


def cached(key: str, seconds: int, make: Callable[[], T]) -> T:
    """At most so old, and never None. Made anew each time while the cache is away."""
    try:
        found: T | None = cache.get(f"desk:{key}")
    except Exception as error:  # whatever the cache's client calls "away"
        say_away(error)
        return make()
    if found is None:
        found = make()
        cache.set(f"desk:{key}", found, timeout=seconds)
    return found


def remember(key: str, seconds: int) -> None:
    """Note that something happened; not while the cache is away."""
    try:
        cache.set(f"desk:{key}", True, timeout=seconds)
    except Exception as error:  # as above
        say_away(error)


def say_away(error: Exception) -> None:
    logger.warning("cannot reach the cache, nothing is cached for the desk: %s", error)
