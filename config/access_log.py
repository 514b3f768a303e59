"""A line for each request: who asked for what, and how it went.

Never the query, which holds what people look for, and never a text of somebody's in the path that
may open something, such as the signature of a file's address.
"""

import re
import time
from collections.abc import Callable
from logging import getLogger
from typing import Any

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from companies.models import Company, Token
from desk.live.asking import ADDRESS as LIVE
from desk.people.signing_in import client_address

logger = getLogger("parceldesk.access")

# Asked by machines all day long, and what pages are made of.
UNSAID = ("/healthz", "/readyz", "/metrics", LIVE)
STATIC = "/static/"
# Tokens and keys are longer; ids, names of pages and most tracking numbers are not. A colon is in
# what Django signs, such as the addresses of files.
LONGEST_PART = 24
SIGNED = ":"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


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
    return path not in UNSAID and not path.startswith(STATIC)


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


def shown_path(path: str) -> str:
    """Without what may be a secret, or would make a second line of one: parts that are signed, long
    and no UUID, or not all printable are left out."""
    return "/".join(part if is_harmless(part) else "…" for part in path.split("/"))


def is_harmless(part: str) -> bool:
    if len(part) <= LONGEST_PART:
        return SIGNED not in part and part.isprintable()
    return bool(UUID.fullmatch(part))


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
