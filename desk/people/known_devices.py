"""Known devices: a signed cookie for each account that has signed in on the device.

The cookie grants nothing. Failures of a known device are counted separately, so that guesses at a
name elsewhere do not lock its owner out. The device's name carries a mark by which the web server,
which does not know the account yet, recognizes our cookie. Why: decision page desk-signing-in.
"""

import hashlib
import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

A_YEAR = 365 * 86400
COOKIE_PREFIX = "device_"


def known_device(request: HttpRequest, username: str) -> str | None:
    """Return the device's name if this account has signed in on it within a year."""
    marked: str | None = request.get_signed_cookie(
        cookie_name(username), default=None, salt=salt(username), max_age=A_YEAR
    )
    return marked and marked.partition(".")[0]


def marked_device(cookie: str, value: str) -> str | None:
    """Return the device's name if this cookie was issued here, however long ago.

    Old cookies have no mark until the next sign-in.
    """
    device, _, mark = value.partition(":")[0].partition(".")
    return device if constant_time_compare(mark, mark_of(cookie, device)) else None


def mark_of(cookie: str, device: str) -> str:
    text = f"{cookie} {device}"
    return salted_hmac("desk.people.known_devices", text, algorithm="sha256").hexdigest()[:32]


def remember_device(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """Set the cookie for another year; the device keeps the name that its failures count under."""
    cookie = cookie_name(username)
    device = known_device(request, username) or secrets.token_hex(16)
    response.set_signed_cookie(
        cookie,
        f"{device}.{mark_of(cookie, device)}",
        salt=salt(username),
        max_age=A_YEAR,
        path="/admin/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def cookie_name(username: str) -> str:
    return f"{COOKIE_PREFIX}{hashlib.sha256(username.encode()).hexdigest()[:16]}"


def salt(username: str) -> str:
    return f"desk.people.known_devices {username}"
