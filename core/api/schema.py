"""Helpers that describe endpoints in OpenAPI 3.1 (GET /schema).

Each app describes its endpoints in a schema.py of its own, next to the views.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.serializers import ListSerializer

from core.api.refusals import MANAGEMENT, Face, refusals
from core.api.shapes import Shape
from core.watch import request_ids

MARK = "x-spec-enum-id"
F = TypeVar("F", bound=Callable[..., Any])


class BearerTokenScheme(OpenApiAuthenticationExtension):
    target_class = "companies.api.authentication.BearerToken"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "The company's API token."}


class PlatformBearerScheme(OpenApiAuthenticationExtension):
    target_class = "companies.api.authentication.PlatformBearer"
    name = "platformToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "The shipping platform's token."}


class StrictBody(OpenApiSerializerExtension):
    """Extension that documents that bodies reject unknown fields (decision E4)."""

    target_class = "core.api.bodies.Body"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        described = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        for name, field in self.target.fields.items():
            most = getattr(field, "max_length", None)
            if isinstance(field, ListSerializer) and most:
                described["properties"][name]["maxItems"] = most
        least = {"minProperties": self.target.least_fields} if self.target.least_fields else {}
        return {**described, **least, "additionalProperties": False}


def header(name: str, about: str, statuses: Sequence[int], type: Any = int) -> OpenApiParameter:
    """Describe a header of responses with one of these statuses."""
    return OpenApiParameter(
        name, type, OpenApiParameter.HEADER, description=about, response=[*statuses]
    )


RATE_CODES = (200, 304, 400, 404, 409, 410, 413, 415, 422, 429)
ANSWER_HEADERS = [
    OpenApiParameter(
        request_ids.HEADER,
        {"type": "string", "pattern": f"^{request_ids.VALID_ID.pattern}$"},
        OpenApiParameter.HEADER,
        description="The request's own X-Request-Id, or a new one. Name it when you ask us.",
        response=True,
    ),
    header("RateLimit-Limit", "Requests allowed per minute for this kind of endpoint.", RATE_CODES),
    header("RateLimit-Remaining", "Requests left in this window.", RATE_CODES),
    header("RateLimit-Reset", "Seconds until the window resets.", RATE_CODES),
    header(
        "WWW-Authenticate",
        '`Bearer`; with `error="invalid_token"` if a token was sent (RFC 6750).',
        [401],
        str,
    ),
    header("Accept", "The media types that are taken, if that of the body is not.", [415], str),
    header(
        "Accept-Encoding", "The codings that are taken, if that of the body is not.", [415], str
    ),
]
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="Repeating a key and body within 24 hours returns the first response, with the"
    " header `Idempotent-Replayed: true`. One key for each request. Refusals are not kept.",
)


class Examples(dict[str, Any]):
    """Several example responses of one operation, by name."""


def examples_of(shows: Any) -> list[OpenApiExample]:
    examples = shows if isinstance(shows, Examples) else {"answer": shows}
    return [OpenApiExample(name, value) for name, value in examples.items()]


def operation(
    id: str,
    summary: str,
    *,
    tag: str,
    answer: Any,
    shows: Any,
    body: Shape | Mapping[str, Shape] | None = None,
    sends: Mapping[str, Any] | None = None,
    query: Shape | None = None,
    headers: Sequence[OpenApiParameter] = (),
    errors: Mapping[int, Any] | None = None,
    idempotent: bool = False,
    face: Face = MANAGEMENT,
    about: str = "",
) -> Callable[[F], F]:
    """Describe one method of a view.

    `shows` is an example of the response, or Examples; `sends` has those of the body. A `body` that
    may be sent in several ways has a shape for each media type. `errors` adds to the refusals that
    every operation has, by status: None for the usual ones, `{code: message}`, or OwnRefusals
    whose answer has members of its own.
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
            200: OpenApiResponse(answer, "Done.", examples_of(shows)),
            **refusals(face, errors or {}, bool(body), bool(query), idempotent),
        },
        examples=[
            OpenApiExample(name, value, request_only=True) for name, value in (sends or {}).items()
        ],
    )


def without_defaults(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """State defaults in words instead of the keyword `default`.

    Client generators treat a member with a `default` as always present, and require it of callers.
    """
    for component in result["components"]["schemas"].values():
        for member in component.get("properties", {}).values():
            if "default" in member:
                default = json.dumps(member.pop("default"))
                about = member.get("description", "").rstrip(".")
                words = f"Default: `{default}`."
                member["description"] = f"{about}. {words}" if about else words
    return result


def with_needed_bodies(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Mark a body as required if it has several shapes or must not be empty."""
    schemas = result["components"]["schemas"]
    for methods in result["paths"].values():
        for body in (each["requestBody"] for each in methods.values() if "requestBody" in each):
            for content in body["content"].values():
                name = content["schema"].get("$ref", "").rpartition("/")[2]
                if {"oneOf", "minProperties"} & schemas.get(name, {}).keys():
                    body["required"] = True
    return result


def with_open_choices(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Turn enums of responses into examples, as there may be more values one day.

    Generated clients fail on a response with a value that is not in the `enum`. Enums of requests
    stay, as do flags and constants.
    """
    schemas = result["components"]["schemas"]
    for name, component in schemas.items():
        if not name.endswith("Request"):
            open_choices(component)
    for methods in result["paths"].values():
        for described in methods.values():
            open_choices(described["responses"])
    open_choices(result.get("webhooks", {}))
    return result


def open_choices(part: Any) -> None:
    """Replace each `enum` in this part of the description, in place."""
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for each in inner:
        open_choices(each)
    choices = part.get("enum") if isinstance(part, dict) else None
    if not isinstance(choices, list):
        return
    values = [choice for choice in choices if choice is not None]
    if len(values) == 1 or values == [0, 1]:
        return
    del part["enum"]
    part["examples"] = values
    known_values = ", ".join(f"`{json.dumps(value)}`" for value in values)
    about = part.get("description", "").rstrip(".")
    words = f"Known values: {known_values}. More may come."
    part["description"] = f"{about}. {words}" if about else words


def without_marks(result: Any, **_: Any) -> Any:
    """Remove the marks that drf-spectacular adds to every choice for its own use."""
    if isinstance(result, dict):
        return {key: without_marks(value) for key, value in result.items() if key != MARK}
    if isinstance(result, list):
        return [without_marks(value) for value in result]
    return result
