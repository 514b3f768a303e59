"""Network addresses of clients, as limits count them."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

# Providers assign at least a /64 to each customer, who may use any address in it for free.
IPV6_PREFIX = 64


def request_network(request: HttpRequest) -> str | None:
    """Return the address of a request's client, as limits count it; for IPv6 its network."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    return client_network(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXY_COUNT)


def client_network(peer: str, forwarded: str, proxies: int) -> str | None:
    """Return the client's address: the peer, or what the nearest `proxies` proxies say it is.

    Proxies append to X-Forwarded-For, so only its last entries are theirs; anybody can write the
    others. None if neither is an address.
    """
    hops = forwarded.split(",")
    nearest = hops[-proxies].strip() if 0 < proxies <= len(hops) else peer
    for text in (nearest, peer):
        try:
            return countable(text)
        except ValueError:
            continue
    return None


def countable(text: str) -> str:
    """Return the IPv4 address, or the network of an IPv6 address. Raises ValueError."""
    address = ip_address(text.partition("%")[0])
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ip_network((int(address), IPV6_PREFIX), strict=False).network_address)
