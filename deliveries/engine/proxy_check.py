"""Health check of the outgoing proxy, independent of any delivery (decision N23)."""

from contextlib import suppress
from ipaddress import ip_network

from django.conf import settings

from deliveries.engine import leases
from deliveries.http.answers import Failure
from deliveries.http.transport import Request, send_one
from webhooks.outgoing import parse_proxy
from webhooks.targets import Policy

# TEST-NET-1, where no receiver can be. A proxy that refuses this address still works.
TEST_ADDRESS = "192.0.2.1"
PROXY_SECONDS = 1.0


def proxy_status() -> str:
    """Describe the state of the outgoing proxy. Raises RuntimeError if nothing gets through it.

    Loops report trouble with their next delivery, so a report may be outdated if nothing was sent
    since. Only then is the proxy itself probed, which may take a second.
    """
    troubles = leases.proxy_troubles()
    if not troubles:
        return "no loop has trouble with it" if settings.DELIVERY_PROXY else "none is set"
    if settings.DELIVERY_PROXY:
        with suppress(RuntimeError):
            return probe_proxy()
    raise RuntimeError(f"{troubles[0]} Loops that cannot send: {len(troubles)}")


def probe_proxy() -> str:
    """Describe the proxy. Raises RuntimeError if it is unreachable or refuses our login."""
    proxy = parse_proxy(settings.DELIVERY_PROXY)
    if proxy is None:
        return "none is set"
    policy = Policy(allowed_networks=(ip_network(TEST_ADDRESS),))
    request = Request(f"https://{TEST_ADDRESS}/", b"", ())
    reply = send_one(request, policy, timeout_seconds=PROXY_SECONDS, proxy=proxy)
    if reply.error is Failure.PROXY:
        raise RuntimeError(reply.detail)
    return f"{proxy.scheme} proxy at {proxy.host}, port {proxy.port}"
