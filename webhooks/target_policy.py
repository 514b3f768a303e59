"""Target policy read from the settings."""

from ipaddress import ip_address

from django.conf import settings

from webhooks.targets import Policy, is_localhost


def current_policy() -> Policy:
    return Policy(
        allow_http=settings.WEBHOOK_ALLOW_HTTP,
        allowed_networks=settings.WEBHOOK_ALLOWED_NETWORKS,
        own_hosts=frozenset(filter(None, map(own_host, settings.ALLOWED_HOSTS))),
    )


def own_host(allowed: str) -> str:
    """Return the host of an entry of ALLOWED_HOSTS in the form of Target.host, or "".

    "" for patterns, and for exempt hosts: in development receivers listen on other ports of the
    service's own host. There only the API recognizes its own deliveries (companies.api.views).
    """
    host = allowed.lower().strip("[]").removesuffix(".")
    if "*" in host or host.startswith(".") or is_localhost(host):
        return ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    exempt = any(address in network for network in settings.WEBHOOK_ALLOWED_NETWORKS)
    return "" if exempt else str(address)
