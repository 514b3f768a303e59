"""Rate limits: requests per company and minute (decision E7)."""

import time
from typing import TYPE_CHECKING, cast

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from companies.api.requests import CompanyRequest
from companies.models import Company
from core.api.minute_counter import WINDOW_SECONDS, counter
from core.values.times import whole_seconds

if TYPE_CHECKING:  # REST framework's settings name this module
    from rest_framework.views import APIView


def rate_key(company: Company, rate: str) -> str:
    return f"{company.pk}:{rate}"


def is_within_rate(company: Company, rate: str, acts: int = 1) -> bool:
    """Count acts on the company's page with those by API."""
    return counter.add(rate_key(company, rate), time.time(), acts) <= settings.RATE_LIMITS[rate]


class MinuteRate(BaseThrottle):
    """Throttle that counts a request and notes what is left, for the headers of its response."""

    wait_seconds = 0.0

    def is_within(self, request: Request, key: str, limit: int) -> bool:
        now = time.time()
        used = counter.add(key, now)
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
    """Throttle of a company: `read` for GET, otherwise the view's `rate`, by default `write`."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        reading = request.method in ("GET", "HEAD", "OPTIONS")
        rate = "read" if reading else getattr(view, "rate", "write")
        company = cast(CompanyRequest, request).company
        return self.is_within(request, rate_key(company, rate), settings.RATE_LIMITS[rate])


class PlatformRate(MinuteRate):
    """Throttle of the platform: `feed`, for all of its tokens together (decision N25)."""

    def allow_request(self, request: Request, view: "APIView") -> bool:
        return self.is_within(request, "platform:feed", settings.RATE_LIMITS["feed"])
