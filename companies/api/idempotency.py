"""Idempotency-Key: the same POST twice within 24 hours gets the first response again."""

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.http import parse_header_parameters
from rest_framework.exceptions import ParseError
from rest_framework.response import Response

from companies.api.requests import CompanyRequest
from companies.models import KeptAnswer
from companies.models.kept_answers import KEPT_FOR
from core.api.parsers import parse_json
from core.data import locks
from core.data.encryption import SecretText, UnreadableSecret

LONGEST_KEY = 255
NO_KEY = "Send one Idempotency-Key, of 1 to 255 visible ASCII characters without spaces."
REPLAYED = "Idempotent-Replayed"
STILL_RUNNING = "The first request with this Idempotency-Key is still running."
OTHER_REQUEST = "This Idempotency-Key was used for a different request."


class BadKey(ValueError):
    """The key is invalid, or was used for a different request."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class Running(RuntimeError):
    """The first request with this key is still running."""


class Fingerprints(NamedTuple):
    """Digests of a request: of its exact bytes, and of what its JSON means."""

    exact: str
    meaning: str


def check_key(key: str) -> None:
    """Check the form of a key. Raises BadKey."""
    if not 1 <= len(key) <= LONGEST_KEY or not all("!" <= each <= "~" for each in key):
        raise BadKey(NO_KEY, code="idempotency_key_invalid")


def answer_once(request: CompanyRequest, key: str, answer: Callable[[], Response]) -> Response:
    """Return the stored response for `key`, or call `answer` and store its response.

    The response is stored in the transaction of the work itself. An advisory lock of this
    transaction marks the key as running, so it disappears with a killed process. Refusals are not
    stored: they have done nothing, and a retry may succeed, such as a comment on a ticket that was
    closed and has been reopened. Raises BadKey and Running, the latter also
    where an earlier version of the service, whose locks are others, stored a response meanwhile.
    """
    prints = fingerprints_of(request, key)
    with transaction.atomic():
        if (first := kept_response(request, key, prints)) is not None:
            return first
        with transaction.atomic():
            response = answer()
            if response.status_code >= 400:
                transaction.set_rollback(True)
        if response.status_code < 400:
            try:
                KeptAnswer.objects.create(
                    company=request.company,
                    key=key,
                    fingerprint=prints.exact,
                    meaning=prints.meaning,
                    status=response.status_code,
                    headers=view_headers(response),
                    **body_columns(response.data),
                    created_at=timezone.now(),
                )
            except IntegrityError as error:
                raise Running(STILL_RUNNING) from error
        return response


def answered_before(request: CompanyRequest, key: str) -> Response | None:
    """Return the stored response for `key`, or None. Raises BadKey and Running.

    For work outside of transactions: a view calls this before the work, and `answer_once` after.
    """
    prints = fingerprints_of(request, key)
    with transaction.atomic():
        return kept_response(request, key, prints)


def kept_response(request: CompanyRequest, key: str, prints: Fingerprints) -> Response | None:
    """Lock the key until the transaction ends; return its response. Raises BadKey and Running."""
    if not locks.try_key(request.company.pk, key):
        raise Running(STILL_RUNNING)
    row = KeptAnswer.objects.filter(company=request.company, key=key).first()
    if not row:
        return None
    if row.created_at <= timezone.now() - KEPT_FOR:
        row.delete()
        return None
    if row.fingerprint != prints.exact and row.meaning != prints.meaning:
        raise BadKey(OTHER_REQUEST, code="idempotency_key_reused")
    headers = {**row.headers, REPLAYED: "true"}
    return Response(kept_body(row), status=row.status, headers=headers)


def fingerprints_of(request: CompanyRequest, key: str) -> Fingerprints:
    """Return what identifies a repeat of a request. Raises BadKey."""
    check_key(key)
    body = request._request.body if request.whole_body is None else request.whole_body
    # Clients make up another boundary for each repeat of a form.
    if boundary := parse_header_parameters(request.content_type or "")[1].get("boundary"):
        body = body.replace(b"--" + boundary.encode(errors="replace"), b"")
    place = f"{request.method} {request.path}\n".encode()
    return Fingerprints(
        hashlib.sha256(place + body).hexdigest(),
        hashlib.sha256(place + canonical_json(body)).hexdigest(),
    )


def canonical_json(body: bytes) -> bytes:
    """Write JSON in one way, whatever its spaces, escapes and key order; keep other bodies."""
    try:
        value = parse_json(body)
    except ParseError:
        return body
    return json.dumps(value, sort_keys=True).encode()


def body_columns(body: Any) -> dict[str, Any]:
    """Return the columns of a stored response: a secret in it is encrypted (decision N16)."""
    clear = without_secrets(body)
    return {"body": clear, "secret_body": None if clear == body else json.dumps(body)}


def without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: without_secrets(inner)
            for name, inner in value.items()
            if not isinstance(inner, SecretText)
        }
    if isinstance(value, list | tuple):
        return [without_secrets(each) for each in value if not isinstance(each, SecretText)]
    return value


def kept_body(row: KeptAnswer) -> Any:
    """Return the first response's body, without its secrets if no key opens them any more."""
    try:
        return json.loads(row.secret_body) if row.secret_body else row.body
    except UnreadableSecret:
        return row.body


def view_headers(response: Response) -> dict[str, str]:
    """Return the headers that the view set; the others are set again for each response."""
    return {name: value for name, value in response.items() if name != "Content-Type"}
