"""IP networks of settings."""

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network

Network = IPv4Network | IPv6Network

# Packets from these networks never come over the Internet.
PRIVATE = (
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "::1/128",
    "fc00::/7",
)


def parse_networks(cidrs: Iterable[str]) -> tuple[Network, ...]:
    """Parse networks in CIDR notation. Raises ValueError."""
    return tuple(ip_network(cidr, strict=False) for cidr in cidrs)
