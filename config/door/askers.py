"""Names of the rows in which requests wait (decision page web-companies-take-turns).

A caller cannot choose a name: each is an owner that this process has authenticated lately, a device
whose cookie is genuine, or an address. A stranger's sign-ins wait in a row of their own, so that
password hashing is shared out by address, and no page waits for it.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from django.conf import settings
from django.http import parse_cookie

from companies.known_callers import CALLERS
from companies.tokens import bearer_token
from config.door.fair_queue import HASHING
from core.api.addresses import client_network
from desk.people.known_devices import COOKIE_PREFIX, marked_device
from portal.visitors import PORTAL_COOKIES

Headers = Iterable[tuple[str, str]]
# Forms that make the service hash a password without a session.
HASH_A_PASSWORD = re.compile(r"/admin/(login/|(password-reset|invitation)/.+)")
STRANGER = "address "
# Each account that shares a browser has a cookie.
MOST_DEVICE_COOKIES = 10


def row_for(request: Any, client: Any, *, proxy: bool) -> str:
    """Name the row of a gunicorn request, by its caller and by whether it hashes a password."""
    peer = client[0] if isinstance(client, tuple) else ""
    row = row_name(request.headers, peer, proxy=proxy)
    hashes = request.method == "POST" and HASH_A_PASSWORD.fullmatch(request.path)
    return HASHING + row if hashes and row.startswith(STRANGER) else row


def row_name(headers: Headers, peer: str, *, proxy: bool) -> str:
    """Name the company or user known by its token, session or device, else the client's address.

    `peer` is the other side of the connection. X-Forwarded-For counts only if `peer` is a trusted
    proxy (`proxy`), and only for PROXY_COUNT proxies. A token that this process has not looked up
    yet is ignored.
    """
    values = join_headers(headers)
    cookies = parse_cookie(values.get("COOKIE", ""))
    owner = (
        CALLERS.owner("token", bearer_token(values.get("AUTHORIZATION", "")))
        or CALLERS.owner("session", cookies.get(settings.SESSION_COOKIE_NAME, ""))
        or known_visitor_owner(cookies)
        or known_device_owner(cookies)
    )
    if owner:
        return owner
    proxies = settings.PROXY_COUNT if proxy else 0
    return f"{STRANGER}{client_network(peer, values.get('X-FORWARDED-FOR', ''), proxies)}"


def known_visitor_owner(cookies: dict[str, str]) -> str | None:
    """Name the company of a session of its page, or of the first of its links' cookies."""
    secrets = (cookies[name] for name in cookies if name.startswith(PORTAL_COOKIES))
    owners = (CALLERS.owner("page", secret) for secret in islice(secrets, MOST_DEVICE_COOKIES))
    return next(filter(None, owners), None)


def known_device_owner(cookies: dict[str, str]) -> str | None:
    """Name the device if one of its first cookies is genuine.

    This runs in the event loop, so it checks MOST_DEVICE_COOKIES cookies at most.
    """
    names = [name for name in cookies if name.startswith(COOKIE_PREFIX)][:MOST_DEVICE_COOKIES]
    devices = (marked_device(name, cookies[name]) for name in names)
    device = next(filter(None, devices), None)
    return device and f"device {device}"


def join_headers(headers: Headers) -> dict[str, str]:
    """Join headers that came more than once, as the application sees them."""
    values: dict[str, str] = {}
    for name, value in headers:
        values[name] = f"{values[name]},{value}" if name in values else value
    return values
