"""Descriptions of refusals in GET /schema, by status and code, each with an example."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse

from core.api.shapes import Error, InvalidRequest, Shape, ShippingError


@dataclass(frozen=True)
class Face:
    """One of the service's two groups of endpoints, by the shape of errors (decisions E1, E2)."""

    error: Shape
    invalid: Shape
    make_example: Callable[..., dict[str, Any]]


def error_example(status: int, message: str, code: str, **more: Any) -> dict[str, Any]:
    phrase = HTTPStatus(status).phrase
    return {"statusCode": status, "error": phrase, "message": message, "code": code, **more}


def shipping_error_example(status: int, message: str, code: str, **more: Any) -> dict[str, Any]:
    error = {"code": status, "description": HTTPStatus(status).phrase, "message": message}
    return {"meta": "error", "error": {**error, "reason": code, **more}}


MANAGEMENT = Face(Error, InvalidRequest, error_example)
SHIPPING = Face(ShippingError, ShippingError, shipping_error_example)

Messages = Mapping[str, str]


@dataclass(frozen=True)
class OwnRefusals:
    """Refusals of one operation with one status: each code with its message.

    For a response with members of its own, `shape` describes it and `shows` has their values.
    """

    messages: Messages
    shape: Shape | None = None
    shows: Mapping[str, Any] = field(default_factory=dict)


WRONG_FIELD = {"field": "comments", "message": "Send a string.", "code": "wrong_type"}
# Refusals that several operations share, by status.
SHARED: dict[int, Messages] = {
    400: {"invalid_request": "comments: Send a string."},
    401: {
        "not_authenticated": "Send the header Authorization: Bearer <API token>.",
        "invalid_token": "This API token is unknown, expired or revoked.",
    },
    403: {
        "webhook_loop": (
            "This is a delivery of this service itself. Point the webhook at your own receiver."
        ),
    },
    404: {"not_found": "Not found."},
    408: {"body_timeout": "The body did not arrive in time."},
    409: {
        "idempotency_key_busy": "The first request with this Idempotency-Key is still running.",
    },
    413: {"body_too_large": "The body is larger than 1 MiB."},
    415: {"unsupported_media_type": "Send application/json, not compressed."},
    422: {
        "idempotency_key_invalid": (
            "Send one Idempotency-Key, of 1 to 255 visible ASCII characters without spaces."
        ),
        "idempotency_key_reused": "This Idempotency-Key was used for a different request.",
    },
    429: {"rate_limit": "Too many requests in this minute. Wait for the next one."},
    503: {
        "database_unavailable": (
            "The service cannot reach its database. Try again in a few seconds."
        ),
        "overloaded": "Too many large requests at once. Try again in a moment.",
    },
}
BAD_JSON = {"invalid_json": "The body is not valid JSON: Expecting value at line 1 column 1."}
# Descriptions of codes whose messages say too little.
MEANINGS = {
    "invalid_request": "A field is wrong; `errors` lists every wrong one.",
    "webhook_loop": "The User-Agent is that of our own deliveries.",
    "not_found": "There is no such thing, or it belongs to another company.",
    "body_timeout": "The body did not arrive within 30 seconds.",
}


def refusals(
    face: Face, errors: Mapping[int, Any], takes_body: bool, takes_query: bool, idempotent: bool
) -> dict[int, OpenApiResponse]:
    """Describe the error responses of an operation: common ones, those of bodies, and its own."""
    responses: dict[int, Any] = dict.fromkeys((401, 403, 429, 503))
    if takes_body or takes_query:
        responses[400] = None
    if takes_body:
        responses.update(dict.fromkeys((408, 413, 415)))
    if idempotent:
        responses.update(dict.fromkeys((409, 422)))
    shared = set(responses)
    responses.update(errors)
    return {
        status: refusal(face, status, responses[status], shared=status in shared, body=takes_body)
        for status in sorted(responses)
    }


def refusal(face: Face, status: int, own: Any, *, shared: bool, body: bool) -> OpenApiResponse:
    if isinstance(own, OpenApiResponse):
        return own
    if isinstance(own, str):
        return OpenApiResponse(face.error, own)
    own_refusals = own if isinstance(own, OwnRefusals) else OwnRefusals(own or {})
    common = SHARED[status] if shared or own is None else {}
    if status == 400 and body:
        common = {**common, **BAD_JSON}
    examples = {
        code: face.make_example(status, message, code, **own_refusals.shows)
        for code, message in own_refusals.messages.items()
    }
    for code, message in common.items():
        more = {"errors": [WRONG_FIELD]} if code == "invalid_request" else {}
        examples[code] = face.make_example(status, message, code, **more)
    lines = {**own_refusals.messages, **common, **{c: MEANINGS[c] for c in common if c in MEANINGS}}
    return OpenApiResponse(
        own_refusals.shape or (face.invalid if status == 400 else face.error),
        "\n".join(f"- `{code}`: {meaning}" for code, meaning in lines.items()),
        [OpenApiExample(code, example) for code, example in examples.items()],
    )
