"""The JSON of a refusal or failure, one shape per face of the service (decisions E1 to E3)."""

from http import HTTPStatus
from typing import Any


def body(path: str, status: int, message: str, **extra: Any) -> dict[str, Any]:
    """The error body of the face that `path` belongs to."""
    phrase = HTTPStatus(status).phrase
    if path.startswith("/ship/"):
        error = {"code": status, "description": phrase, "message": message, **extra}
        return {"meta": "error", "error": error}
    return {"statusCode": status, "error": phrase, "message": message, **extra}
