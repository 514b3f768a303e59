"""The outgoing proxy: its libcurl options, and whose failure a failed tunnel is (N23)."""

import logging
import time
from collections.abc import Sequence

import pycurl

from deliveries.http.answers import Failure
from webhooks.outgoing import Proxy

logger = logging.getLogger(__name__)

MAX_HOSTS = 10_000
KINDS = {"http": pycurl.PROXYTYPE_HTTP, "socks5": pycurl.PROXYTYPE_SOCKS5}
# CURLOPT_SUPPRESS_CONNECT_HEADERS, which pycurl lacks: the proxy's headers are not the answer.
SUPPRESS_CONNECT_HEADERS = 265

FIRST_REST_SECONDS = 0.5
LONGEST_REST_SECONDS = 15.0

COULD_NOT_CONNECT, TIMED_OUT, BROKE, SOCKS = 7, 28, 56, 97
OTHER_LOGIN = 407
# Squid answers 503 where others answer 502: it could not connect to the receiver.
UNREACHABLE_STATUS = {
    502: (Failure.REFUSED, "The proxy could not connect to the receiver"),
    503: (Failure.REFUSED, "The proxy could not connect to the receiver"),
    504: (Failure.TIMEOUT, "The proxy had no connection to the receiver in time"),
}
# Values of libcurl's CURLproxycode; the bytes of the SOCKS reply follow in the comment.
SOCKS_REFUSED, SOCKS_HOST_UNREACHABLE, SOCKS_NETWORK_UNREACHABLE = 19, 21, 22  # 5, 4, 3
UNREACHABLE_SOCKS = (SOCKS_REFUSED, SOCKS_HOST_UNREACHABLE, SOCKS_NETWORK_UNREACHABLE)
SOCKS_LOGIN = (11, 12, 33)  # no method without a login, none that both have, a wrong login
LOGIN = "The outgoing proxy asks for a login, or refuses ours."
NOT_REACHED = "The outgoing proxy cannot be reached."


def proxy_options(proxy: Proxy) -> dict[int, object]:
    """Return the options that are the same for every request through a proxy."""
    result: dict[int, object] = {
        pycurl.PROXYTYPE: KINDS[proxy.scheme],
        pycurl.HTTPPROXYTUNNEL: 1,  # also for http://: the proxy never sees a request
        pycurl.PROXYAUTH: pycurl.HTTPAUTH_BASIC,
        pycurl.HEADEROPT: pycurl.HEADER_SEPARATE,  # a receiver's token is not the proxy's
        pycurl.NOPROXY: "",
        SUPPRESS_CONNECT_HEADERS: 1,
    }
    if proxy.user or proxy.password:
        result |= {pycurl.PROXYUSERNAME: proxy.user, pycurl.PROXYPASSWORD: proxy.password}
    return result


class Outage:
    """State of the proxy as far as one transport knows. `now` is a monotonic clock."""

    def __init__(self) -> None:
        self.trouble = ""  # what is wrong with it, in a sentence
        self.turn = 0  # moves on to the next address of its name
        self._rest = 0.0
        self._until = 0.0
        self._turns: dict[str, int] = {}

    @property
    def failing(self) -> bool:
        return bool(self.trouble)

    def rests(self, now: float) -> bool:
        return self.failing and now < self._until

    def judge(
        self, easy: pycurl.Curl, code: int, host: str, hurried: bool
    ) -> tuple[Failure, str] | None:
        """Record what a new connection says about the proxy; return why there is none, if so."""
        failure = tunnel_failure(easy, code, hurried) if code else None
        if failure and failure[0] is Failure.PROXY:
            self.failed(time.monotonic(), failure[1])
            return failure
        self.worked()
        if failure and failure[0] is not Failure.PROXY_REFUSED:
            if len(self._turns) > MAX_HOSTS:
                self._turns.clear()
            self._turns[host] = self._turns.get(host, 0) + 1
        return failure

    def address_of(self, host: str, addresses: Sequence[str]) -> str:
        """Return the receiver's address to try: another one if the last could not be reached."""
        return chosen_address(addresses, self._turns.get(host, 0))

    def failed(self, now: float, why: str) -> None:
        """Record a failure and rest; further failures during the rest do not lengthen it."""
        if not self.failing:
            logger.error("%s Nothing is delivered until it works again.", why)
        if not self.rests(now):
            self._rest = min(max(2 * self._rest, FIRST_REST_SECONDS), LONGEST_REST_SECONDS)
            self._until = now + self._rest
            self.turn += 1
        self.trouble = why

    def worked(self) -> None:
        if self.failing:
            logger.warning("The outgoing proxy works again.")
        self.trouble, self._rest = "", 0.0


def tunnel_failure(easy: pycurl.Curl, code: int, hurried: bool) -> tuple[Failure, str] | None:
    """Return why there is no tunnel, and whose failure that is; None if the tunnel stood.

    `hurried`: little time was left for it, so that a timeout says nothing about the proxy.
    """
    if code in (COULD_NOT_CONNECT, TIMED_OUT) and not easy.getinfo(pycurl.CONNECT_TIME):
        return None if code == TIMED_OUT and hurried else (Failure.PROXY, NOT_REACHED)
    if code == SOCKS:
        return _socks_failure(easy.getinfo(pycurl.PROXY_ERROR))
    status = easy.getinfo(pycurl.HTTP_CONNECTCODE)
    if code == COULD_NOT_CONNECT and status == OTHER_LOGIN:
        return Failure.PROXY, LOGIN
    if code == COULD_NOT_CONNECT and status in UNREACHABLE_STATUS:
        failure, words = UNREACHABLE_STATUS[status]
        return failure, f"{words} ({status})."
    if code == COULD_NOT_CONNECT:
        return Failure.PROXY_REFUSED, f"The outgoing proxy refused with {status}."
    if code == BROKE and not status:
        return Failure.PROXY_REFUSED, "The outgoing proxy closed the connection without a reply."
    return None


def _socks_failure(error: int) -> tuple[Failure, str]:
    if error in UNREACHABLE_SOCKS:
        return Failure.REFUSED, "The proxy could not connect to the receiver."
    if error in SOCKS_LOGIN:
        return Failure.PROXY, LOGIN
    return Failure.PROXY_REFUSED, "The outgoing proxy refused."


def chosen_address(addresses: Sequence[str], turn: int) -> str:
    """Return the one address that a proxy takes: IPv4 first, the next with each `turn`."""
    ordered = sorted(addresses, key=lambda each: ":" in each)
    return ordered[turn % len(ordered)]
