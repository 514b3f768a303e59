"""Access log: a line for each request, with its caller and its outcome.

It leaves out the query, which holds people's search terms, and hides secrets in the path.
"""

import time
from collections.abc import Callable
from logging import getLogger
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from companies.models import Company, Token
from core.watch.url_secrets import shown_path
from desk.live.polling import ADDRESS as LIVE
from desk.people.signing_in import client_address

logger = getLogger("parceldesk.access")

# Machines and open pages poll these all day long.
UNLOGGED = ("/healthz", "/readyz", "/metrics", LIVE)
STATIC = "/static/"


class AccessLines:
    """Middleware that logs each answered request, except polls and static files."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.ACCESS_LOG:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self.get_response(request)
        if is_logged(request.path_info):
            log_request(request, response, round((time.perf_counter() - began) * 1000))
        return response


def is_logged(path: str) -> bool:
    return path not in UNLOGGED and not path.startswith(STATIC)


def log_request(request: HttpRequest, response: HttpResponse, duration_ms: int) -> None:
    path = shown_path(request.path_info)
    company_id = company_of(request)
    # The length of a streamed response is not known yet.
    size = None if response.streaming else len(response.content)
    address = client_address(request)
    token = token_of(request)
    logger.info(
        "%s %s %d %d ms, %s bytes, company %s, token %s, from %s",
        request.method,
        path,
        response.status_code,
        duration_ms,
        "?" if size is None else size,
        company_id or "-",
        token or "-",
        address or "-",
        extra={
            "method": request.method,
            "route": route_of(request),
            "path": path,
            "status": response.status_code,
            "duration_ms": duration_ms,
            "bytes": size,
            "company_id": company_id,
            "token": token,
            "address": address,
        },
    )


def route_of(request: HttpRequest) -> str | None:
    """Return the URL pattern, or None if the request was not routed."""
    match = request.resolver_match
    return f"/{match.route}" if match else None


def company_of(request: Any) -> int | None:
    """Return the company whose token the request bore; desk users are not looked up for it."""
    user = getattr(request, "user", None)
    return user.pk if type(user) is Company else None


def token_of(request: Any) -> str | None:
    """Return the prefix of the accepted token, of a company or of the platform."""
    token = getattr(request, "auth", None)
    return token.prefix if isinstance(token, Token) else None
