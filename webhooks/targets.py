"""Rules for the URLs that may be a webhook's target (decision W23). Pure: resolves no names.

The policy: https, no credentials, and a public name or a public address in canonical form.
`deliveries.http.resolver` and `deliveries.http.transport` check the addresses that a name resolves
to at every connection.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

import idna

from core.values.texts import gettext_noop
from webhooks.addresses import why_forbidden

MAX_LENGTH = 2048
DEFAULT_PORTS = {"https": 443, "http": 80}

# Top labels that are never public: RFC 6761 and its successors, labels that ICANN will not
# delegate, and the usual search domains of offices and clusters.
SPECIAL_NAMES = frozenset(
    {"alt", "arpa", "example", "invalid", "local", "localhost", "onion", "test"}
    | {"corp", "home", "internal", "mail", "private"}
    | {"intranet", "lan", "localdomain", "svc"}
)

# Public domain names under which a cloud serves the credentials of its machines.
METADATA_NAMES = ("metadata.goog",)

_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\s\ud800-\udfff]")
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]+)([^#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[^\[\]]+\]|[^:\[\]]+)(?::(.*))?")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_TOP_LABEL = re.compile(r"[a-z]{2,}|xn--.+")


class BadTarget(ValueError):
    """The URL is not allowed as a target; the message says what to change.

    Translations are of `template`, which `values` complete.
    """

    def __init__(self, template: str, **values: object) -> None:
        super().__init__(template.format(**values))
        self.template = template
        self.values = values


@dataclass(frozen=True, slots=True)
class Policy:
    """The operator's exceptions to "https to public hosts on the usual ports".

    Addresses in `allowed_networks` are exempt from the checks of addresses and of `ports`; if they
    include loopback, the name localhost is exempt as well. Nothing is sent to `own_hosts`, the
    names of this service: it would call its own API in a loop.
    """

    allow_http: bool = False
    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    ports: frozenset[int] = frozenset({443, 8443})
    own_hosts: frozenset[str] = frozenset()

    def why_forbidden(self, address: str | IPv4Address | IPv6Address) -> str | None:
        """Return why the address is forbidden; None if it is allowed."""
        return why_forbidden(address, self.allowed_networks)

    def exempts(self, address: IPv4Address | IPv6Address) -> bool:
        """Return whether the operator allows this address explicitly."""
        return any(address in network for network in self.allowed_networks)

    @property
    def loopback(self) -> tuple[str, ...]:
        """Loopback addresses that the operator allows for localhost."""
        return tuple(each for each in ("127.0.0.1", "::1") if self.why_forbidden(each) is None)


@dataclass(frozen=True, slots=True)
class Target:
    """An allowed URL. `url` is requested as it stands: ASCII host, without the default port."""

    url: str
    scheme: str
    host: str
    port: int
    address: IPv4Address | IPv6Address | None


def check_target(url: str, policy: Policy) -> Target:
    """Check and split a company's URL. Raises BadTarget."""
    scheme, authority, rest = _split(url)
    if scheme not in DEFAULT_PORTS or (scheme == "http" and not policy.allow_http):
        raise BadTarget(gettext_noop("The URL must start with https://."))
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise BadTarget(
            gettext_noop("The host is malformed; give a name such as hooks.example.com.")
        )
    text, port_text = match.groups()
    address = _address(text)
    host = _ascii_name(text, policy) if address is None else str(address)
    if address is not None and (reason := policy.why_forbidden(address)):
        raise BadTarget(
            "The address {address} is not public ({reason}); use a public host.",
            address=address,
            reason=reason,
        )
    if host in policy.own_hosts:
        raise BadTarget(
            gettext_noop("{host} is this service itself; give the address of your receiver."),
            host=host,
        )
    port = _port(port_text, scheme)
    exempt = is_localhost(host) if address is None else policy.exempts(address)
    if not exempt and port != DEFAULT_PORTS[scheme] and port not in policy.ports:
        usual = ", ".join(str(each) for each in sorted(policy.ports))
        raise BadTarget(
            gettext_noop("Port {port} is not allowed; use one of {usual}."), port=port, usual=usual
        )
    url_host = f"[{host}]" if isinstance(address, IPv6Address) else host
    suffix = "" if port == DEFAULT_PORTS[scheme] else f":{port}"
    return Target(f"{scheme}://{url_host}{suffix}{rest}", scheme, host, port, address)


@lru_cache(maxsize=20_000)
def host_in(url: str) -> str:
    """Return the host of a stored URL: an ASCII name or a compressed address; "" without one."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).compressed
    except ValueError:
        pass
    try:
        return ".".join(_ascii_label(label) for label in host.removesuffix(".").split("."))
    except BadTarget:
        return host


def canonical_url(url: str) -> str:
    """Return one form for all spellings of an allowed URL that lead to the same request.

    Case and encoding of the host, its trailing dot, a default port and an empty path do not matter.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    port = "" if parts.port in (None, DEFAULT_PORTS.get(scheme)) else f":{parts.port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{scheme}://{host_in(url)}{port}{parts.path or '/'}{query}"


def is_localhost(host: str) -> bool:
    """Return whether the ASCII host is localhost or one of its subdomains."""
    return host == "localhost" or host.endswith(".localhost")


def _split(url: str) -> tuple[str, str, str]:
    """Return scheme, authority, and path with query. Raises BadTarget for malformed text."""
    if len(url) > MAX_LENGTH:
        raise BadTarget(gettext_noop("The URL is longer than {most} characters."), most=MAX_LENGTH)
    if _UNPRINTABLE.search(url):
        raise BadTarget(
            gettext_noop("The URL contains spaces or control characters; percent-encode them.")
        )
    if "\\" in url:
        raise BadTarget(gettext_noop("The URL contains a backslash; write / or percent-encode it."))
    if "#" in url:
        raise BadTarget(gettext_noop("The URL has a fragment; remove # and everything after it."))
    match = _URL.fullmatch(url)
    if match is None:
        raise BadTarget(
            gettext_noop("This is not a URL; give one such as https://hooks.example.com/path.")
        )
    scheme, authority, rest = match.groups()
    if "@" in authority:
        raise BadTarget(gettext_noop("The URL contains credentials; remove everything before @."))
    if "%" in authority:
        raise BadTarget(gettext_noop("The host is percent-encoded; write it without encoding."))
    if not rest.isascii():
        raise BadTarget(
            gettext_noop("The path or query has characters outside ASCII; percent-encode them.")
        )
    return scheme.lower(), authority, rest if rest.startswith("/") else f"/{rest}"


def _port(text: str | None, scheme: str) -> int:
    if text is None:
        return DEFAULT_PORTS[scheme]
    if not _PORT.fullmatch(text) or int(text) > 65535:
        raise BadTarget(gettext_noop("The port is not a number from 1 to 65535."))
    return int(text)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the literal address, or None for a name. Raises BadTarget for odd spellings."""
    last = host.removesuffix(".").rpartition(".")[2]
    try:
        if host.startswith("["):
            return IPv6Address(host[1:-1])
        return IPv4Address(host) if _NUMBER.fullmatch(last) else None
    except ValueError:
        raise BadTarget(
            gettext_noop(
                "The host is not a plain address; write IPv4 as 93.184.216.34, IPv6 in brackets."
            )
        ) from None


def _ascii_name(host: str, policy: Policy) -> str:
    """Return a public name in ASCII and lower case (IDNA 2008, nothing mapped)."""
    # A trailing dot marks a name as absolute; all names here are.
    labels = [_ascii_label(label) for label in host.removesuffix(".").split(".")]
    name = ".".join(labels)
    if len(name) > 253:
        raise BadTarget(gettext_noop("The host name is longer than 253 characters."))
    if is_localhost(name) and policy.loopback:
        return name
    if len(labels) < 2 or labels[-1] in SPECIAL_NAMES or not _TOP_LABEL.fullmatch(labels[-1]):
        raise BadTarget(
            gettext_noop("{name} is not a public host name; use one that anyone can look up."),
            name=name,
        )
    if any(name == each or name.endswith(f".{each}") for each in METADATA_NAMES):
        raise BadTarget(
            gettext_noop("{name} is a cloud's metadata service; use your own host."), name=name
        )
    return name


def _ascii_label(label: str) -> str:
    try:
        return idna.alabel(label.lower() if label.isascii() else label).decode("ascii")
    except UnicodeError:
        raise BadTarget(
            gettext_noop(
                "The host is not a valid name; use letters, digits and hyphens, in lower case."
            )
        ) from None
