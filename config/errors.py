"""Handlers that answer every error as JSON, one body per face (decisions E1 to E3)."""

import json
import logging
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.views import csrf, defaults
from rest_framework import exceptions
from rest_framework.response import Response

from companies.api.views import Refusal
from config.error_bodies import body
from core.values.times import whole_seconds
from core.watch.doctor import first_line
from portal.problems import problem

logger = logging.getLogger(__name__)

# REST framework's codes of field errors, and the API's. Codes that are missing here stay.
FIELD_CODES = {
    "invalid": "wrong_type",
    "not_a_list": "wrong_type",
    "null": "not_null",
    "min_value": "too_small",
    "max_value": "too_large",
    "min_length": "too_short",
    "empty": "too_short",
    "max_length": "too_long",
    "max_bytes": "too_long",
    "max_string_length": "too_long",
    "null_characters_not_allowed": "invalid_characters",
    "surrogate_characters_not_allowed": "invalid_characters",
}
# The code of a request with any of them.
WRONG_FIELDS = "invalid_request"

NOT_FOUND = "Not found."
BROKEN = "Something went wrong on our side. Try again in a moment."
AWAY = "The service cannot reach its database. Try again in a few seconds."


def answer_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer an exception of an API view; the exception handler of REST framework."""
    path = context["request"].path
    if isinstance(error, Http404):
        error = exceptions.NotFound(NOT_FOUND)
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    elif isinstance(error, OperationalError | InterfaceError):
        # One line without a traceback: during an outage every request logs it.
        logger.error("cannot reach the database: %s: %s", path, first_line(error))
        away = body(path, 503, AWAY, code="database_unavailable")
        answer = Response(away, status=503, headers={"Retry-After": "5"})
        vars(answer)["_has_been_logged"] = True  # Django would add a line that says less
        return answer
    if not isinstance(error, exceptions.APIException):
        return None
    headers = dict(getattr(error, "headers", {}))
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(whole_seconds(wait))
    answer_body = body(path, error.status_code, **members(error))
    return Response(answer_body, status=error.status_code, headers=headers)


def members(error: exceptions.APIException) -> dict[str, Any]:
    """Return the body's members for an error: message, code, and any extra ones."""
    if isinstance(error, exceptions.ValidationError):
        errors = list(flat(error.detail))
        first = ": ".join(part for part in (errors[0]["field"], errors[0]["message"]) if part)
        others = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return {"message": first + others, "code": WRONG_FIELDS, "errors": errors}
    # REST framework's own exceptions get the code of their status; ours have a code.
    own_code = str(getattr(error.detail, "code", ""))
    code = "" if own_code == error.default_code else own_code
    extra = error.extra if isinstance(error, Refusal) else {}
    return {"message": str(error.detail), "code": code, **extra}


def flat(detail: Any, field: str = "") -> Any:
    """Yield nested validation errors one by one, each with its path: `documents[0].field_id`."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            if name == "non_field_errors":
                yield from flat(inner, field)
            elif isinstance(name, int):
                yield from flat(inner, f"{field}[{name}]")
            else:
                yield from flat(inner, f"{field}.{name}" if field else name)
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            nested = isinstance(inner, dict | list)
            if not nested or inner:
                yield from flat(inner, f"{field}[{position}]" if nested else field)
    else:
        code = getattr(detail, "code", "invalid")
        yield {"field": field, "message": str(detail), "code": FIELD_CODES.get(code, code)}


def error_response(request: HttpRequest, status: int, message: str) -> HttpResponse:
    return HttpResponse(
        json.dumps(body(request.path, status, message)),
        status=status,
        content_type="application/json",
    )


def for_people(request: HttpRequest) -> bool:
    return request.path.startswith("/admin/")


def for_visitors(request: HttpRequest) -> bool:
    return request.path.startswith("/c/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    is_large = isinstance(exception, RequestDataTooBig)
    if for_visitors(request):
        return problem(request, "too_large" if is_large else "malformed")
    if is_large:
        return error_response(request, 413, "The body is too large.")
    return error_response(request, 400, "The request is malformed.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if for_people(request):
        return defaults.permission_denied(request, exception)
    return error_response(request, 403, "You are not allowed to do this.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if for_people(request):
        return defaults.page_not_found(request, exception)
    if for_visitors(request):
        return problem(request, "not_found")
    return error_response(request, 404, NOT_FOUND)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if for_people(request):
        return csrf.csrf_failure(request, reason)
    return error_response(request, 403, "You are not allowed to do this.")


def server_error(request: HttpRequest) -> HttpResponse:
    if for_people(request):
        return defaults.server_error(request)
    if for_visitors(request):
        return problem(request, "broken")
    return error_response(request, 500, BROKEN)
