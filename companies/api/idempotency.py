"""Idempotency-Key: the same POST twice within 24 hours gets the first response again."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.http import parse_header_parameters
from rest_framework.response import Response

from companies import locks
from companies.api.requests import CompanyRequest
from companies.encryption import SecretText, UnreadableSecret
from companies.models import KeptAnswer
from companies.models.kept_answers import KEPT_FOR

LONGEST_KEY = 255
NO_KEY = "Idempotency-Key must be 1 to 255 printable ASCII characters without spaces."
STILL_RUNNING = "The first request with this Idempotency-Key is still running."
OTHER_REQUEST = "This Idempotency-Key was used for a different request."


class BadKey(ValueError):
    """The key is invalid, or was used for a different request."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class Running(RuntimeError):
    """The first request with this key is still running."""


def check_key(key: str) -> None:
    """Raises BadKey."""
    if not key or len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise BadKey(NO_KEY, code="idempotency_key_invalid")


def answer_once(request: CompanyRequest, key: str, answer: Callable[[], Response]) -> Response:
    """Return the stored response for `key`, or call `answer` and store its response.

    The response is stored in the transaction of the work itself. An advisory lock of this
    transaction marks the key as running, so it disappears with a killed process. A 409, a 429 and
    a 5xx are not stored, because a retry may succeed. Raises BadKey and Running, the latter also
    where an earlier version of the service, whose locks are others, stored a response meanwhile.
    """
    fingerprint = fingerprint_of(request, key)
    with transaction.atomic():
        if (first := kept_response(request, key, fingerprint)) is not None:
            return first
        with transaction.atomic():
            response = answer()
            if response.status_code >= 400:
                # The writes of a failed request are rolled back; its response is still stored.
                transaction.set_rollback(True)
        if response.status_code not in (409, 429) and response.status_code < 500:
            try:
                KeptAnswer.objects.create(
                    company=request.company,
                    key=key,
                    fingerprint=fingerprint,
                    status=response.status_code,
                    headers=view_headers(response),
                    **body_columns(response.data),
                    created_at=timezone.now(),
                )
            except IntegrityError as error:
                raise Running(STILL_RUNNING) from error
        return response


def answered_before(request: CompanyRequest, key: str) -> Response | None:
    """The stored response for `key`, if there is one. Raises BadKey and Running.

    For work that belongs into no transaction: a view asks before it, and calls `answer_once` after.
    """
    fingerprint = fingerprint_of(request, key)
    with transaction.atomic():
        return kept_response(request, key, fingerprint)


def kept_response(request: CompanyRequest, key: str, fingerprint: str) -> Response | None:
    """Lock the key until the transaction ends, then look. Raises BadKey and Running."""
    if not locks.try_key(request.company.pk, key):
        raise Running(STILL_RUNNING)
    kept = KeptAnswer.objects.filter(company=request.company, key=key).first()
    if not kept:
        return None
    if kept.created_at <= timezone.now() - KEPT_FOR:
        kept.delete()
        return None
    if kept.fingerprint != fingerprint:
        raise BadKey(OTHER_REQUEST, code="idempotency_key_reused")
    return Response(kept_body(kept), status=kept.status, headers=kept.headers)


def fingerprint_of(request: CompanyRequest, key: str) -> str:
    """By what a request is known again. Raises BadKey."""
    check_key(key)
    body = request._request.body if request.whole_body is None else request.whole_body
    # Clients make up another boundary for each repeat of a form.
    if boundary := parse_header_parameters(request.content_type or "")[1].get("boundary"):
        body = body.replace(b"--" + boundary.encode(errors="replace"), b"")
    text = f"{request.method} {request.path}\n".encode() + body
    return hashlib.sha256(text).hexdigest()


def body_columns(body: Any) -> dict[str, Any]:
    """How an answer is stored: no secret that it shows lies there in clear (decision N16)."""
    clear = without_secrets(body)
    return {"body": clear, "secret_body": None if clear == body else json.dumps(body)}


def without_secrets(value: Any) -> Any:
    """The same without the members that are secrets."""
    if isinstance(value, dict):
        return {
            name: without_secrets(inner)
            for name, inner in value.items()
            if not isinstance(inner, SecretText)
        }
    if isinstance(value, list | tuple):
        return [without_secrets(each) for each in value if not isinstance(each, SecretText)]
    return value


def kept_body(kept: KeptAnswer) -> Any:
    """What the first answer said; without its secrets where no key opens them any more."""
    try:
        return json.loads(kept.secret_body) if kept.secret_body else kept.body
    except UnreadableSecret:
        return kept.body


def view_headers(response: Response) -> dict[str, str]:
    """The headers that the view set; the others are set again for each response."""
    return {name: value for name, value in response.items() if name != "Content-Type"}
