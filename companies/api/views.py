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

# An attribute of answers, for config.compression.
MAY_COMPRESS = "may_compress"

OWN_DELIVERY = "This is a delivery of this service itself. Point the webhook at your own receiver."
TOO_MANY_REQUESTS = "Too many requests in this minute. Wait for the next one."


class Refusal(APIException):
    """An error response. `code` is what programs go by (decision N11): a new one needs its row in
    docs/errors.md. `extra` adds members to the body.
    """

    def __init__(self, message: str, *, code: str, **extra: Any) -> None:
        super().__init__(message, code)
        self.extra = extra


class Conflict(Refusal):
    status_code = 409


class Unprocessable(Refusal):
    """A business rule forbids the request (decision E1)."""

    status_code = 422


class LimitReached(Refusal):
    """There is a bound, and it is reached; `wait` is Retry-After, in seconds."""

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
    """Tell our deliveries from other requests, also those of a host with another version."""
    product = settings.DELIVERY_USER_AGENT.partition("/")[0]
    return user_agent.startswith(f"{product}/")


class BearerView(APIView):
    """A view for whoever shows a token: the headers that every answer has.

    `compressible`: its answers hold no secret. Compressed, the size of an answer tells whether a
    text of a stranger's occurs twice, and so, try by try, a secret beside it (BREACH).
    """

    compressible = False
    # GET answers the same while nothing has changed, so it has an ETag.
    conditional = True

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Before anything is looked up: a webhook whose URL is an address of ours, under whatever
        # name, would have each delivery make the next.
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
        # A company's own data, and now and then a secret: no cache keeps it or gives it to another.
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
    """What the first request with this Idempotency-Key was answered, if there is a key and there
    was one. For views that work before they call what is decorated as `idempotent`.
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
