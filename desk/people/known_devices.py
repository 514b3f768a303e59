"""Devices on which an account has signed in before: a signed cookie for each account.

It opens nothing. It says whose failures are counted, so that nobody who guesses at a name elsewhere
locks its owner out. Why: decision page desk-signing-in.
"""

import hashlib
import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from companies.known_callers import CALLERS

A_YEAR = 365 * 86400
COOKIE_PREFIX = "device_"


def known_device(request: HttpRequest, username: str) -> str | None:
    """The name of this device, if this account has signed in on it within a year."""
    device: str | None = request.get_signed_cookie(
        cookie_name(username), default=None, salt=salt(username), max_age=A_YEAR
    )
    if device:
        CALLERS.remember("device", request.COOKIES[cookie_name(username)], f"device {device}")
    return device


def remember_device(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """For another year; it keeps its name, under which its own failures are counted."""
    response.set_signed_cookie(
        cookie_name(username),
        known_device(request, username) or secrets.token_hex(16),
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
