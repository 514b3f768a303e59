"""A line for each request: who asked for what, and how it went.

Never the query, which holds what people look for, and of the path no secret.
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
from desk.live.asking import ADDRESS as LIVE
from desk.people.signing_in import client_address

logger = getLogger("parceldesk.access")

# Asked by machines all day long, and what pages are made of.
NO_DECISION = ("/healthz", "/readyz", "/metrics", LIVE)
STATIC = "/static/"


class AccessLines:
    """Middleware: logs each request once it is answered, but for what is asked all day long."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.ACCESS_LOG:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self.get_response(request)
        if is_said(request.path_info):
            say_request(request, response, round((time.perf_counter() - began) * 1000))
        return response


def is_said(path: str) -> bool:
    return path not in NO_DECISION and not path.startswith(STATIC)


def say_request(request: HttpRequest, response: HttpResponse, duration_ms: int) -> None:
    path, company_id = shown_path(request.path_info), company_of(request)
    # What is streamed has no length yet.
    size = None if response.streaming else len(response.content)
    address, token = client_address(request), token_of(request)
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
    """As the addresses are written in the code; None where there is none, or nobody looked."""
    match = request.resolver_match
    return f"/{match.route}" if match else None


def company_of(request: Any) -> int | None:
    """Whose token it bore. The user of the desk, who may not be known yet, is not looked up."""
    user = getattr(request, "user", None)
    return user.pk if type(user) is Company else None


def token_of(request: Any) -> str | None:
    """Prefix of the token that was accepted, of a company or of the platform."""
    token = getattr(request, "auth", None)
    return token.prefix if isinstance(token, Token) else None
