"""State of a sign-in between leaving for the provider and coming back: a signed cookie, used once.

A cookie rather than a session, so that strangers who begin a sign-in write no rows.
"""

import logging
from typing import NamedTuple

from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare

logger = logging.getLogger(__name__)

COOKIE = "sign_on"
SALT = "desk.people.sign_on.attempts"
VALID_SECONDS = 600


class SignOnAttempt(NamedTuple):
    state: str
    nonce: str
    verifier: str
    next_page: str


def store_attempt(response: HttpResponse, attempt: SignOnAttempt) -> None:
    response.set_cookie(
        COOKIE,
        signing.dumps(list(attempt), salt=SALT),
        max_age=VALID_SECONDS,
        path=reverse("desk_sign_on"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        # The provider redirects back from another site, which Strict would block.
        samesite="Lax",
    )


def drop_attempt(response: HttpResponse) -> None:
    response.delete_cookie(COOKIE, path=reverse("desk_sign_on"), samesite="Lax")


def take_attempt(request: HttpRequest) -> SignOnAttempt | None:
    """Return the attempt that matches the state in the request; None if invalid or already used."""
    try:
        fields = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=VALID_SECONDS)
        attempt = SignOnAttempt(*fields)
    except (signing.BadSignature, TypeError):
        return None
    if not constant_time_compare(attempt.state, request.GET.get("state", "")):
        return None
    return attempt if is_first(attempt.state) else None


def is_first(state: str) -> bool:
    try:
        return cache.add(f"sign-on:{state}", 1, VALID_SECONDS)
    except OSError as error:
        # A replay is still refused: the provider accepts each code only once.
        logger.warning("sign-on: the cache is away (%s)", type(error).__name__)
        return True
