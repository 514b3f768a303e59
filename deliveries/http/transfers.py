"""A request in flight: libcurl's handle, its options, and the reply being received."""

import time
from collections.abc import Callable, Sequence
from functools import partial

import pycurl

from deliveries.http.answers import MAX_BODY, Incoming
from deliveries.http.resolver import Answer
from webhooks.outgoing import Proxy
from webhooks.targets import Target

# Part of the time for connecting: an address that drops packets must not use up all of it.
CONNECT_SHARE = 0.6
# No connection outlives this, so that a changed address is noticed.
CONNECTION_SECONDS = 300
# An empty Expect saves the round trip by which libcurl announces a larger body.
OUR_HEADERS = ["Accept-Encoding: identity", "Expect:"]


class Transfer:
    """A libcurl handle and the reply being received; reused."""

    def __init__(
        self,
        options: dict[int, object],
        open_socket: Callable[..., int],
        ask: Callable[..., int],
    ) -> None:
        self.incoming = Incoming()
        # The receiver's addresses while the proxy's are looked up; the one we may connect to then.
        self.vetted: Answer | None = None
        self.proxy_address = ""
        self.seconds_left = 0.0  # when libcurl began
        self.easy = pycurl.Curl()
        for option, value in options.items():
            self.easy.setopt(option, value)
        self.easy.setopt(pycurl.HEADERFUNCTION, self.incoming.take_header)
        self.easy.setopt(pycurl.WRITEFUNCTION, self.incoming.take_body)
        self.easy.setopt(pycurl.OPENSOCKETFUNCTION, partial(open_socket, self))
        self.easy.setopt(pycurl.PREREQFUNCTION, partial(ask, self.incoming))

    def load(self, target: Target, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        """Put a request on the handle. Raises ValueError or pycurl.error if it is not valid."""
        lines = [f"{name}: {value}" for name, value in headers]
        joined = "".join(lines)
        if not (joined.isascii() and joined.isprintable()):
            raise ValueError("a header holds more than printable ASCII")
        self.vetted = None
        self.host = target.host
        self._host, self._port = f"{target.host}:{target.port}", target.port
        self.easy.setopt(pycurl.URL, target.url)
        self.easy.setopt(pycurl.HTTPHEADER, lines + OUR_HEADERS)
        self.easy.setopt(pycurl.POSTFIELDS, body)

    def aim_through(self, at: str, proxy: Proxy, address: str | None, seconds: float) -> None:
        """Set the proxy and the vetted address of the receiver, whose name is for TLS only."""
        self.aim((), seconds)
        self.proxy_address = at
        self.easy.setopt(pycurl.PROXY, proxy.at(at))
        if address:
            literal = f"[{address}]" if ":" in address else address
            self.easy.setopt(pycurl.CONNECT_TO, [f"{self._host}:{literal}:{self._port}"])
        else:
            self.easy.unsetopt(pycurl.CONNECT_TO)

    def aim(self, addresses: Sequence[str], seconds: float) -> None:
        """Set the vetted addresses, and the time that their lookup has left."""
        if addresses:
            pinned = ",".join(f"[{each}]" if ":" in each else each for each in addresses)
            # The plus lets libcurl forget the entry after a minute.
            self.easy.setopt(pycurl.RESOLVE, [f"+{self._host}:{pinned}"])
        self.seconds_left = self.incoming.started + seconds - time.monotonic()
        self.easy.setopt(pycurl.TIMEOUT_MS, max(1, int(self.seconds_left * 1000)))


def options(ca_bundle: str, timeout_seconds: float) -> dict[int, object]:
    """Return the options that are the same for every request."""
    return {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PROXY: "",  # no proxy, whatever the environment says
        pycurl.NETRC: pycurl.NETRC_IGNORED,
        pycurl.PATH_AS_IS: 1,
        pycurl.POST: 1,
        pycurl.USERAGENT: "",  # the caller's header or none
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.BUFFERSIZE: MAX_BODY,
        pycurl.CONNECTTIMEOUT_MS: int(timeout_seconds * CONNECT_SHARE * 1000),
        pycurl.MAXLIFETIME_CONN: CONNECTION_SECONDS,
        # A file without a directory: only then does libcurl keep the store between connections.
        pycurl.CAINFO: ca_bundle,
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
        pycurl.SSLVERSION: pycurl.SSLVERSION_TLSv1_2,
    }
