"""Helpers that describe endpoints in OpenAPI 3.1 (GET /schema).

Each app describes its endpoints in a schema.py of its own, beside the views.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from companies.api.shapes import Error, InvalidRequest, Shape, ShippingError

MARK = "x-spec-enum-id"
F = TypeVar("F", bound=Callable[..., Any])


class BearerTokenScheme(OpenApiAuthenticationExtension):
    target_class = "companies.api.authentication.BearerToken"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "The company's API token."}


class StrictBody(OpenApiSerializerExtension):
    """Describes that bodies reject unknown fields (decision E4)."""

    target_class = "companies.api.bodies.Body"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        described = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {**described, "additionalProperties": False}


@dataclass(frozen=True)
class Face:
    """One of the service's two groups of endpoints, by the shape of errors (decisions E1, E2)."""

    error: Shape
    invalid: Shape
    shown: Callable[..., dict[str, Any]]


def error_example(code: int, error: str, message: str, **more: Any) -> dict[str, Any]:
    return {"statusCode": code, "error": error, "message": message, **more}


def shipping_error_example(code: int, error: str, message: str, **more: Any) -> dict[str, Any]:
    body = {"code": code, "description": error, "message": message, **more}
    return {"meta": "error", "error": body}


MANAGEMENT = Face(Error, InvalidRequest, error_example)
SHIPPING = Face(ShippingError, ShippingError, shipping_error_example)

WRONG_FIELD = {"field": "comments", "message": "Send a string."}
# The meaning of each status, and an example of its message.
ERRORS = {
    400: ("The request is invalid; `errors` lists every invalid field.", ""),
    401: (
        "The API token is missing, unknown, expired or revoked.",
        "Send the header Authorization: Bearer <API token>.",
    ),
    404: ("Not found, or it belongs to another company.", "Not found."),
    408: ("The body did not arrive within 30 seconds.", "The body did not arrive in time."),
    409: (
        "The first request with this Idempotency-Key is still running.",
        "The first request with this Idempotency-Key is still running.",
    ),
    410: ("What was asked for is no longer stored.", "No longer stored."),
    413: ("The body is larger than 1 MiB.", "The body is larger than 1 MiB."),
    415: (
        "The body is not application/json, or it is compressed.",
        "Send application/json, not compressed.",
    ),
    422: (
        "The Idempotency-Key is invalid or was used for a different request.",
        "This Idempotency-Key was used for a different request.",
    ),
    429: (
        "Too many requests in this minute. Try again after Retry-After seconds.",
        "Request was throttled. Expected available in 12 seconds.",
    ),
    503: (
        "The service cannot reach its database. Try again after Retry-After seconds.",
        "The service cannot reach its database. Try again in a few seconds.",
    ),
}


def header(name: str, about: str, statuses: Sequence[int], type: Any = int) -> OpenApiParameter:
    """A header of responses with one of these statuses."""
    return OpenApiParameter(
        name, type, OpenApiParameter.HEADER, description=about, response=[*statuses]
    )


COUNTED = (200, 400, 404, 409, 410, 413, 415, 422, 429)
ANSWER_HEADERS = [
    header("RateLimit-Limit", "Requests allowed per minute for this kind of endpoint.", COUNTED),
    header("RateLimit-Remaining", "Requests left in this window.", COUNTED),
    header("RateLimit-Reset", "Seconds until the window resets.", COUNTED),
    header("WWW-Authenticate", "Always `Bearer`.", [401], str),
]
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255},
    OpenApiParameter.HEADER,
    description="Repeating a key and body within 24 hours returns the first response.",
)


def operation(
    id: str,
    summary: str,
    *,
    tag: str,
    answer: Any,
    shows: Any,
    body: Shape | None = None,
    sends: Mapping[str, Any] | None = None,
    query: Shape | None = None,
    headers: Sequence[OpenApiParameter] = (),
    errors: Mapping[int, Any] | None = None,
    idempotent: bool = False,
    face: Face = MANAGEMENT,
    about: str = "",
) -> Callable[[F], F]:
    """Describe one method of a view.

    `shows` is an example of the response, `sends` has named examples of the body. `errors` adds to
    the errors that every operation has: None for the usual description, a text, or an
    OpenApiResponse.
    """
    return extend_schema(
        operation_id=id,
        summary=summary,
        description=about,
        tags=[tag],
        request=body,
        parameters=[
            *([query] if query else []),
            *([IDEMPOTENCY_KEY] if idempotent else []),
            *ANSWER_HEADERS,
            header(
                "Retry-After",
                "Seconds to wait before trying again.",
                [409, 429, 503] if idempotent else [429, 503],
            ),
            *headers,
        ],
        responses={
            200: OpenApiResponse(answer, "Done.", [OpenApiExample("answer", shows)]),
            **refusals(face, errors or {}, bool(body), bool(query), idempotent),
        },
        examples=[
            OpenApiExample(name, value, request_only=True) for name, value in (sends or {}).items()
        ],
    )


def refusals(
    face: Face, errors: Mapping[int, Any], takes_body: bool, takes_query: bool, idempotent: bool
) -> dict[int, OpenApiResponse]:
    """The error responses of an operation: the common ones, those of bodies, and its own."""
    found: dict[int, Any] = dict.fromkeys((401, 429, 503))
    if takes_body or takes_query:
        found[400] = None
    if takes_body:
        found.update(dict.fromkeys((408, 413, 415)))
    found.update(errors)
    if idempotent:
        found.setdefault(409, None)
        found[422] = f"{found[422]} {ERRORS[422][0]}" if 422 in found else None
    return {status: refusal(status, found[status], face) for status in sorted(found)}


def refusal(status: int, about: Any, face: Face) -> OpenApiResponse:
    if isinstance(about, OpenApiResponse):
        return about
    words, message = ERRORS[status]
    phrase = HTTPStatus(status).phrase
    if status == 400:
        message = ": ".join(WRONG_FIELD.values())
        shape, example = face.invalid, face.shown(status, phrase, message, errors=[WRONG_FIELD])
    else:
        shape, example = face.error, face.shown(status, phrase, message)
    # The usual example would contradict a description of its own.
    examples = [] if about else [OpenApiExample("refusal", example)]
    return OpenApiResponse(shape, about or words, examples)


def without_marks(result: Any, **_: Any) -> Any:
    """Remove the marks that drf-spectacular adds to every choice for its own use."""
    if isinstance(result, dict):
        return {key: without_marks(value) for key, value in result.items() if key != MARK}
    if isinstance(result, list):
        return [without_marks(value) for value in result]
    return result
