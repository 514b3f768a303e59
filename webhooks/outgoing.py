"""Parser of DELIVERY_PROXY, the proxy that deliveries are sent through (decision N23). Pure."""

import re
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from webhooks.targets import is_localhost

PORTS = {"http": 3128, "socks5": 1080}
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+", re.IGNORECASE)


class BadProxy(ValueError):
    """DELIVERY_PROXY is invalid. The message omits its value, which may contain a password."""


class Proxy(NamedTuple):
    """Outgoing proxy. `host` is a name or an address, without brackets."""

    scheme: str
    host: str
    port: int
    user: str
    password: str

    @property
    def is_address(self) -> bool:
        return self.host[-1].isdigit() or ":" in self.host

    def at(self, address: str) -> str:
        """Return the proxy's URL for libcurl, with an address that we have resolved ourselves."""
        return f"{self.scheme}://{f'[{address}]' if ':' in address else address}:{self.port}"


def parse_proxy(text: str) -> Proxy | None:
    """Parse DELIVERY_PROXY; None if it is empty. Raises BadProxy."""
    if not text:
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname or ""
    except ValueError:
        raise BadProxy("is no URL, or its port is no number") from None
    if parts.scheme not in PORTS:
        raise BadProxy("begins with neither http:// nor socks5://")
    if not _HOST.fullmatch(host) or port == 0:
        raise BadProxy("names no host and port")
    if is_localhost(host):
        host = "127.0.0.1"  # no lookup needed
    elif host[-1].isdigit() or ":" in host:
        try:
            host = ip_address(host).compressed
        except ValueError:
            raise BadProxy("has an address that is none") from None
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise BadProxy("has more than a login, a host and a port")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user + password).isprintable() or max(len(user), len(password)) > 255 or ":" in user:
        raise BadProxy("has a login that cannot be sent")
    return Proxy(parts.scheme, host, port or PORTS[parts.scheme], user, password)
