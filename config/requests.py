"""Ids and counts of requests (decision page config-a-request-has-an-id)."""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from companies.api.views import BearerView, PlatformView
from companies.api_acts import caller_at_work
from core.measures import catalogue, counting
from core.watch import request_ids, url_secrets


class RequestIds:
    """Middleware that adds X-Request-Id to every answer; the first, so that errors get it too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # The thread may still have the caller of its last request.
        caller_at_work.set(None)
        request_id = request_ids.begin_request(request.headers.get(request_ids.HEADER, ""))
        url_secrets.at_work.set(urls_of(request))
        response = self.get_response(request)
        response.headers[request_ids.HEADER] = request_id
        return response


def urls_of(request: HttpRequest) -> tuple[str, ...]:
    """Return the request's URL as Django reads it and as it was sent, and its referrer."""
    raw_urls = (request.META.get(name, "") for name in ("RAW_URI", "HTTP_REFERER"))
    return (f"{request.path_info}?{request.META.get('QUERY_STRING', '')}", *raw_urls)


METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class CountRequests:
    """Middleware that counts and times answers of the API, the company's page and the desk.

    Series are labelled by URL pattern, so that unknown paths do not create new ones.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.monotonic()
        response = self.get_response(request)
        count_answer(request, response.status_code, time.monotonic() - began)
        return response


def count_answer(request: HttpRequest, status: int, seconds: float) -> None:
    """Count an answer; probes, static files and documents are left out."""
    method = request.method if request.method in METHODS else "other"
    match = request.resolver_match
    rate = rate_class(request.path, getattr(match.func, "cls", None), method) if match else ""
    if request.path.startswith("/admin/"):
        counting.count(catalogue.DESK_REQUESTS, str(method), str(status))
        counting.count_time(catalogue.DESK_DURATION, seconds)
    elif match and rate:
        counting.count(catalogue.API_REQUESTS, match.route, str(method), str(status))
        counting.count_time(catalogue.API_DURATION, seconds, rate)
    elif match is None and status == HTTPStatus.NOT_FOUND:
        counting.count(catalogue.API_REQUESTS, "unmatched", str(method), str(status))


def rate_class(path: str, view: type | None, method: str | None) -> str:
    """Return the class of a rate limit (companies.api.rates); "" if the view is not limited."""
    if path.startswith("/c/"):
        return "page"
    if view is None or not issubclass(view, BearerView):
        return ""
    if issubclass(view, PlatformView):
        return "feed"
    reading = method in ("GET", "HEAD", "OPTIONS")
    return "read" if reading else str(getattr(view, "rate", "write"))


@receiver(request_finished)
def forget_request(**_: Any) -> None:
    """Forget the request once its answer is closed: Django logs some failures after middleware."""
    request_ids.end_request()
    url_secrets.at_work.set(())
