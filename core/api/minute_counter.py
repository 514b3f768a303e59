"""Sums per minute that all processes share."""

import logging
from contextlib import suppress

from django.core.cache import cache

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 60
BLIND_SECONDS = 5


class Counter:
    """Sums per fixed window of a minute, in the cache that all web processes share.

    If the cache cannot be reached, no request is refused, and the cache is not asked again for a
    few seconds, so that requests do not each wait for its timeout.
    """

    def __init__(self) -> None:
        self.blind_until = 0.0

    def add(self, key: str, now: float, amount: int = 1) -> int:
        """Add to the sum of this minute and return it."""
        if now < self.blind_until:
            return 0
        window = f"rate:{key}:{int(now // WINDOW_SECONDS)}"
        try:
            return self.count(window, amount)
        except Exception as error:  # each cache client has its own exceptions
            logger.warning("cannot reach the cache, requests are not counted: %s", error)
            self.blind_until = now + BLIND_SECONDS
            return 0

    def count(self, window: str, amount: int) -> int:
        with suppress(ValueError):  # the first of its window
            return cache.incr(window, amount)
        if cache.add(window, amount, timeout=2 * WINDOW_SECONDS):
            return amount
        return cache.incr(window, amount)


counter = Counter()
