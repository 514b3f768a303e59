"""JSON bodies of errors, one shape per face of the service (decisions E1 to E3)."""

from http import HTTPStatus
from typing import Any

# Default error codes by status, for exceptions without a code of their own (docs/errors.md).
STATUS_CODES = {
    400: "malformed_request",
    401: "not_authenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "body_timeout",
    413: "body_too_large",
    414: "address_too_long",
    415: "unsupported_media_type",
    417: "expectation_failed",
    429: "too_many_connections",
    431: "headers_too_large",
    500: "internal_error",
    503: "overloaded",
}


def body(path: str, status: int, message: str, *, code: str = "", **extra: Any) -> dict[str, Any]:
    """Return the error body for the face of `path`; programs go by `code` (N11)."""
    phrase = HTTPStatus(status).phrase
    code = code or STATUS_CODES[status]
    if path.startswith("/ship/"):
        # Paths under /ship/ have the status in `code`, so the code is in `reason`.
        fields = {"code": status, "description": phrase, "message": message, "reason": code}
        return {"meta": "error", "error": {**fields, **extra}}
    return {"statusCode": status, "error": phrase, "message": message, "code": code, **extra}
