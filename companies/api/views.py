"""The base of every endpoint for companies: the view, its headers, its error responses."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

from django.conf import settings
from django.http import HttpRequest
from django.utils.cache import patch_vary_headers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from companies.api import idempotency
from companies.api.authentication import PlatformBearer
from companies.api.rates import PlatformRate
from companies.api.requests import CompanyRequest
from core.api.conditional import answer_conditionally

# Attribute of responses, read by config.compression.
MAY_COMPRESS = "may_compress"

OWN_DELIVERY = "This is a delivery of this service itself. Point the webhook at your own receiver."
TOO_MANY_REQUESTS = "Too many requests in this minute. Wait for the next one."


class Refusal(APIException):
    """An error response. `code` needs a row in docs/errors.md (N11), `extra` adds to the body."""

    def __init__(self, message: str, *, code: str, **extra: Any) -> None:
        super().__init__(message, code)
        self.extra = extra


class Conflict(Refusal):
    status_code = 409


class Unprocessable(Refusal):
    """A business rule forbids the request (decision E1)."""

    status_code = 422


class LimitReached(Refusal):
    """A limit is reached; `wait` is Retry-After, in seconds."""

    status_code = 429

    def __init__(self, message: str, *, code: str, wait: float, **extra: Any) -> None:
        super().__init__(message, code=code, **extra)
        self.wait = wait


class OwnDelivery(Refusal):
    """The request is one of our own deliveries, so a webhook points at this service."""

    status_code = 403


class StillRunning(Conflict):
    """The first request with this Idempotency-Key is still running."""

    wait = 1


def is_own_delivery(user_agent: str) -> bool:
    """Return whether a request is our delivery, also of a host with another version."""
    product = settings.DELIVERY_USER_AGENT.partition("/")[0]
    return user_agent.startswith(f"{product}/")


class BearerView(APIView):
    """Base of the views that need a token; sets the headers that every response has.

    A `compressible` view's responses hold no secret. A compressed response's size tells whether a
    stranger's text occurs twice, and so reveals, try by try, a secret next to it (BREACH).
    """

    compressible = False
    # GET responses stay the same while nothing has changed, so they have an ETag.
    conditional = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Checked before any lookup: a webhook whose URL is an address of ours, under whatever
        # name, would make each delivery cause the next.
        if is_own_delivery(request.headers.get("User-Agent", "")):
            raise OwnDelivery(OWN_DELIVERY, code="webhook_loop")
        super().initial(request, *args, **kwargs)

    def throttled(self, request: Request, wait: float | None) -> NoReturn:
        raise LimitReached(TOO_MANY_REQUESTS, code="rate_limit", wait=wait or 1)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in getattr(self.request, "rate_headers", {}).items():
            response[name] = value
        # Responses are a company's own and sometimes hold a secret: no cache may keep them.
        response["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["Authorization"])
        if response.status_code == 200:
            if request.method in ("GET", "HEAD") and self.conditional:
                answer_conditionally(request, response)
            setattr(response, MAY_COMPRESS, self.compressible)
        return response


class CompanyView(BearerView):
    """A view for companies; `request.company` is the company of the token."""

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> CompanyRequest:
        return CompanyRequest(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
            parser_context=self.get_parser_context(request),
        )


class PlatformView(BearerView):
    """A view for the shipping platform (decision N25)."""

    authentication_classes = [PlatformBearer]
    throttle_classes = [PlatformRate]


Handler = Callable[..., Response]


def idempotent(handler: Handler) -> Handler:
    """Decorate a POST handler: requests with the same Idempotency-Key are processed once."""

    @wraps(handler)
    def once(view: CompanyView, request: CompanyRequest, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return handler(view, request, *args, **kwargs)

        def answer() -> Response:
            try:
                return handler(view, request, *args, **kwargs)
            except APIException as refusal:
                return view.handle_exception(refusal)

        with key_refusals():
            return idempotency.answer_once(request, key, answer)

    return once


def first_answer(request: CompanyRequest) -> Response | None:
    """Return the stored response for this request's Idempotency-Key, or None.

    For views that do work before they call a handler decorated as `idempotent`.
    """
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    with key_refusals():
        return idempotency.answered_before(request, key)


@contextmanager
def key_refusals() -> Iterator[None]:
    try:
        yield
    except idempotency.BadKey as error:
        raise Unprocessable(str(error), code=error.code) from error
    except idempotency.Running as error:
        raise StillRunning(str(error), code="idempotency_key_busy") from error
