"""Rules for the IP addresses that deliveries may connect to (decision W23). Pure."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

# The IANA IPv4 special-purpose registry, multicast, and the address of Azure's host agent.
# `ipaddress.is_global` is not used, because its result depends on the patch release of Python.
SPECIAL_IPV4 = {
    IPv4Network(network): reason
    for network, reason in {
        "0.0.0.0/8": "this network",
        "10.0.0.0/8": "private network",
        "100.64.0.0/10": "carrier-grade NAT",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "cloud host agent",
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private network",
        "192.0.0.0/24": "IETF protocol assignments",
        "192.0.2.0/24": "documentation",
        "192.31.196.0/24": "AS112 service",
        "192.52.193.0/24": "multicast tunnelling",
        "192.88.99.0/24": "6to4 relay",
        "192.168.0.0/16": "private network",
        "192.175.48.0/24": "AS112 service",
        "198.18.0.0/15": "benchmarking",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
    }.items()
}

# IPv6 is an allow-list. Addresses that contain an IPv4 address (mapped, compatible, NAT64, ISATAP)
# and ranges defined in the future are outside it.
GLOBAL_IPV6 = IPv6Network("2000::/3")
SPECIAL_IPV6 = {
    IPv6Network(network): reason
    for network, reason in {
        "2001::/23": "IETF protocol assignments",
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4",
        "2620:4f:8000::/48": "AS112 service",
        "3fff::/20": "documentation",
    }.items()
}


def why_forbidden(
    address: str | IPv4Address | IPv6Address,
    allowed_networks: Iterable[IPv4Network | IPv6Network] = (),
) -> str | None:
    """Return in two or three words why the address is forbidden; None if it is allowed.

    Text that is not a plain address (a scope id, a short form, leading zeros) is forbidden too.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return "not an address"
    if isinstance(parsed, IPv6Address) and parsed.scope_id is not None:
        return "scoped address"
    if any(parsed in network for network in allowed_networks):
        return None
    if isinstance(parsed, IPv6Address) and parsed not in GLOBAL_IPV6:
        return "outside global unicast"
    special = SPECIAL_IPV4 if isinstance(parsed, IPv4Address) else SPECIAL_IPV6
    return next((reason for network, reason in special.items() if parsed in network), None)
