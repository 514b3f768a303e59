"""Between the way to the provider and the way back: what the browser keeps, signed, and once.

In a cookie and in no session, so that strangers who only set out write no rows.
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


def keep_attempt(response: HttpResponse, attempt: SignOnAttempt) -> None:
    response.set_cookie(
        COOKIE,
        signing.dumps(list(attempt), salt=SALT),
        max_age=VALID_SECONDS,
        path=reverse("desk_sign_on"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        # Lax: the provider sends the browser back from another site.
        samesite="Lax",
    )


def drop_attempt(response: HttpResponse) -> None:
    response.delete_cookie(COOKIE, path=reverse("desk_sign_on"), samesite="Lax")


def take_attempt(request: HttpRequest) -> SignOnAttempt | None:
    """The attempt that this browser has begun and whose state has come back; none a second time."""
    try:
        kept = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=VALID_SECONDS)
        attempt = SignOnAttempt(*kept)
    except (signing.BadSignature, TypeError):
        return None
    if not constant_time_compare(attempt.state, request.GET.get("state", "")):
        return None
    return attempt if is_first(attempt.state) else None


def is_first(state: str) -> bool:
    try:
        return cache.add(f"sign-on:{state}", 1, VALID_SECONDS)
    except OSError as error:
        # The provider takes a code once, too.
        logger.warning("sign-on: the cache is away (%s)", type(error).__name__)
        return True
