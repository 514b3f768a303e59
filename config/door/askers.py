"""Names of the rows in which requests wait (decision page web-companies-take-turns).

No name is text that the caller chose: each is an owner that this process has authenticated lately,
or an address.
"""

from collections.abc import Iterable

from django.conf import settings
from django.http import parse_cookie

from companies.addresses import client_network
from companies.known_callers import CALLERS
from companies.tokens import shown_token
from desk.people.known_devices import COOKIE_PREFIX

Headers = Iterable[tuple[str, str]]


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
    return f"address {client_network(peer, sent.get('X-FORWARDED-FOR', ''), proxies)}"


def known_device_owner(cookies: dict[str, str]) -> str | None:
    for name, value in cookies.items():
        if name.startswith(COOKIE_PREFIX) and (owner := CALLERS.owner("device", value)):
            return owner
    return None


def join_headers(headers: Headers) -> dict[str, str]:
    """Join headers that came more than once, as the application sees them."""
    sent: dict[str, str] = {}
    for name, value in headers:
        sent[name] = f"{sent[name]},{value}" if name in sent else value
    return sent
