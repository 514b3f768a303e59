"""Names of the rows in which requests wait (decision page web-companies-take-turns).

No name is text that the caller chose: each is an owner that this process has authenticated lately,
a device whose cookie is genuine, or an address. A stranger who signs in waits in another row than
with all else, so that hashes of passwords are shared out by address, and no page waits behind them.
"""

import re
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.http import parse_cookie

from companies.known_callers import CALLERS
from companies.tokens import shown_token
from config.door.fair_queue import HASHING
from core.api.addresses import client_network
from desk.people.known_devices import COOKIE_PREFIX, marked_device

Headers = Iterable[tuple[str, str]]
# Whoever sends a form there has a password hashed, and need not be signed in.
HASH_A_PASSWORD = re.compile(r"/admin/(login/|(password-reset|invitation)/.+)")
STRANGER = "address "
# Accounts that share a browser.
MOST_DEVICE_COOKIES = 10


def row_for(request: Any, client: Any, *, proxy: bool) -> str:
    """Name the row of a request of gunicorn's, by who asks and whether a hash is asked for."""
    peer = client[0] if isinstance(client, tuple) else ""
    who = row_name(request.headers, peer, proxy=proxy)
    hashes = request.method == "POST" and HASH_A_PASSWORD.fullmatch(request.path)
    return HASHING + who if hashes and who.startswith(STRANGER) else who


def row_name(headers: Headers, peer: str, *, proxy: bool) -> str:
    """Name the company or user that is known by its token, session or device, else the address.

    `peer` is the other side of the connection. Only a trusted proxy (`proxy`) names another
    address, and only if PROXY_COUNT says that it does. A token that nobody has looked up yet is
    worth no more than none.
    """
    sent = join_headers(headers)
    cookies = parse_cookie(sent.get("COOKIE", ""))
    owner = (
        CALLERS.owner("token", shown_token(sent.get("AUTHORIZATION", "")))
        or CALLERS.owner("session", cookies.get(settings.SESSION_COOKIE_NAME, ""))
        or known_device_owner(cookies)
    )
    if owner:
        return owner
    proxies = settings.PROXY_COUNT if proxy else 0
    return f"{STRANGER}{client_network(peer, sent.get('X-FORWARDED-FOR', ''), proxies)}"


def known_device_owner(cookies: dict[str, str]) -> str | None:
    """Name the device if one of its first cookies is genuine; the event loop looks at no more."""
    shown = [name for name in cookies if name.startswith(COOKIE_PREFIX)][:MOST_DEVICE_COOKIES]
    devices = (marked_device(name, cookies[name]) for name in shown)
    found = next(filter(None, devices), None)
    return found and f"device {found}"


def join_headers(headers: Headers) -> dict[str, str]:
    """Join headers that came more than once, as the application sees them."""
    sent: dict[str, str] = {}
    for name, value in headers:
        sent[name] = f"{sent[name]},{value}" if name in sent else value
    return sent
