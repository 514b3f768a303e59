"""Whether the outgoing proxy works, asked at once and for nobody's delivery (decision N23)."""

from contextlib import suppress
from ipaddress import ip_network

from django.conf import settings

from deliveries.engine import leases
from deliveries.http.answers import Failure
from deliveries.http.transport import Request, send_one
from webhooks.outgoing import parse_proxy
from webhooks.targets import Policy

# TEST-NET-1, which no receiver has: whether the proxy allows it is its affair.
NOBODY = "192.0.2.1"
PROXY_SECONDS = 1.0


def proxy_as_loops_find_it() -> str:
    """Say how the outgoing proxy does. Raises RuntimeError where nothing gets through it.

    Engine loops notice with their next delivery. It is asked itself, which may take a second, only
    where one of them complains: they may have had nothing to send since.
    """
    troubles = leases.proxy_troubles()
    if not troubles:
        return "no loop has trouble with it" if settings.DELIVERY_PROXY else "none is set"
    if settings.DELIVERY_PROXY:
        with suppress(RuntimeError):
            return probe_proxy()
    raise RuntimeError(f"{troubles[0]} Loops that cannot send: {len(troubles)}")


def probe_proxy() -> str:
    """Say what the proxy is. Raises RuntimeError if it cannot be reached or refuses our login."""
    proxy = parse_proxy(settings.DELIVERY_PROXY)
    if proxy is None:
        return "none is set"
    nobody = Policy(allowed_networks=(ip_network(NOBODY),))
    request = Request(f"https://{NOBODY}/", b"", ())
    reply = send_one(request, nobody, timeout_seconds=PROXY_SECONDS, proxy=proxy)
    if reply.error is Failure.PROXY:
        raise RuntimeError(reply.detail)
    return f"{proxy.scheme} proxy at {proxy.host}, port {proxy.port}"
