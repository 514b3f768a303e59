"""Rate limits: requests per company and minute (decision E7)."""

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from companies.api.requests import CompanyRequest
from companies.times import whole_seconds

if TYPE_CHECKING:  # its settings name this module
    from rest_framework.views import APIView

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


class MinuteRate(BaseThrottle):
    """Counts a request and notes what is left, for the headers of its answer."""

    wait_seconds = 0.0

    def is_within(self, request: Request, counted: str, limit: int) -> bool:
        now = time.time()
        used = counter.add(counted, now)
        self.wait_seconds = WINDOW_SECONDS - now % WINDOW_SECONDS
        cast(CompanyRequest, request).rate_headers = {
            "RateLimit-Limit": str(limit),
            "RateLimit-Remaining": str(max(0, limit - used)),
            "RateLimit-Reset": str(whole_seconds(self.wait_seconds)),
        }
        return used <= limit

    def wait(self) -> float:
        return self.wait_seconds


class CompanyRate(MinuteRate):
    """The limit is `read` for GET, otherwise the view's `rate`, by default `write`."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        reading = request.method in ("GET", "HEAD", "OPTIONS")
        rate = "read" if reading else getattr(view, "rate", "write")
        company = cast(CompanyRequest, request).company
        return self.is_within(request, f"{company.pk}:{rate}", settings.RATE_LIMITS[rate])


class PlatformRate(MinuteRate):
    """The limit is `feed`, for all of the platform's tokens together (decision N25)."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        return self.is_within(request, "platform:feed", settings.RATE_LIMITS["feed"])
