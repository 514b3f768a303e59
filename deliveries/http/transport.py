"""The only way out to receivers: concurrent POSTs, each bounded in time and size.

libcurl is used because its one timeout covers connect, TLS, headers and body, and because its
open-socket callback sees the very address that it is about to connect to.
"""

import socket
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import closing
from functools import lru_cache, partial
from typing import Any, NamedTuple

import certifi
import pycurl

from deliveries.http.answers import Failure, Incoming, Reply
from deliveries.http.proxies import Outage, chosen_address, proxy_options
from deliveries.http.resolver import Answer, Resolver
from deliveries.http.sockets import Sockets
from deliveries.http.transfers import Transfer, options
from webhooks.outgoing import Proxy
from webhooks.targets import BadTarget, Policy, check_target

MAX_TARGETS = 10_000

NO_SOCKET: int = pycurl.SOCKET_BAD
FORBIDDEN = (Failure.FORBIDDEN_ADDRESS, "Not a public address.")
UNKNOWN_PROXY = "The name of the outgoing proxy cannot be resolved."
AS_WRITTEN = Answer()  # an address in the URL needs no other


class Request(NamedTuple):
    """One POST. `key` is opaque and returned with the reply."""

    url: str
    body: bytes
    headers: Sequence[tuple[str, str]]
    key: Hashable = None


def send_one(request: Request, policy: Policy, **options: Any) -> Reply:
    """Send one request and wait for the reply; options as of Transport."""
    with closing(Transport(policy, concurrency=1, **options)) as transport:
        transport.start(request)
        while True:
            for reply in transport.wait(1.0):
                return reply


class Transport:
    """Sends up to `concurrency` requests at a time, each for `timeout_seconds` at most.

    The timeout covers DNS, connect, TLS, headers and body. Connections are reused. Belongs to one
    thread. `name_servers` ("address:port") are for tests. With a `proxy`, names are still resolved
    and judged here, and the proxy is given the address (decision N23).
    """

    def __init__(
        self,
        policy: Policy,
        *,
        ca_bundle: str | None = None,
        timeout_seconds: float = 5.0,
        concurrency: int = 256,
        name_servers: Sequence[str] = (),
        proxy: Proxy | None = None,
    ) -> None:
        self.concurrency = concurrency
        self.in_flight = 0
        self._policy = policy
        self._check = lru_cache(MAX_TARGETS)(partial(check_target, policy=policy))
        self._timeout = timeout_seconds
        self._options = options(ca_bundle or certifi.where(), timeout_seconds)
        self._proxy = proxy
        self.outage = Outage()
        if proxy:
            self._options |= proxy_options(proxy)
        self._transfers: dict[pycurl.Curl, Transfer] = {}
        self._free: list[Transfer] = []
        self._replies: list[Reply] = []
        self._may_send: Callable[[Hashable], bool] = lambda key: True
        self._resolver: Resolver[Transfer] = Resolver(
            policy, name_servers, own=f"{proxy.host}." if proxy else ""
        )
        self._sockets = Sockets(self._resolver.fileno())
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.watch)
        self._multi.setopt(pycurl.M_MAXCONNECTS, 2 * concurrency)

    def start(self, request: Request) -> None:
        """Begin to send. `wait` returns a reply for a request that cannot be sent, too.

        Raises RuntimeError if `concurrency` requests are in flight.
        """
        if self.in_flight >= self.concurrency:
            raise RuntimeError(f"{self.in_flight} requests are in flight already")
        transfer = self._free.pop() if self._free else self._another()
        transfer.incoming.begin(request.key)
        self.in_flight += 1
        try:
            target = self._check(request.url)
            transfer.load(target, request.headers, request.body)
        except BadTarget as bad:
            self._end(transfer, transfer.incoming.failed(Failure.BAD_TARGET, str(bad)))
            return
        except (ValueError, TypeError, pycurl.error) as bad:
            unsendable = f"This request cannot be sent: {bad}."
            self._end(transfer, transfer.incoming.failed(Failure.INTERNAL, unsendable))
            return
        answer: Answer | None = AS_WRITTEN
        if target.address is None:
            deadline = transfer.incoming.started + self._timeout
            answer = self._resolver.resolve(target.host, transfer, deadline)
        if answer is not None:
            self._connect(transfer, answer)

    def wake_for(self, descriptor: int) -> None:
        """Make `wait` return, with `rung` true, also when this descriptor is readable."""
        self._sockets.add_bell(descriptor)

    def ask_before_sending(self, may_send: Callable[[Hashable], bool]) -> None:
        """Call `may_send` with the key when a request's first byte is about to go out.

        If it returns False, nothing is sent and the reply is NOT_SENT. Between `start` and that
        moment come the lookup, the connection, and any time for which the process stood still.
        """
        self._may_send = may_send

    @property
    def rung(self) -> bool:
        """True if a descriptor of `wake_for` ended the last wait."""
        return self._sockets.rung

    def wait(self, seconds: float) -> list[Reply]:
        """Send and receive until there is a reply or the time is over; return all replies."""
        now = time.monotonic()
        until = now + seconds
        # Even if `start` has left replies: they must not delay the requests in flight.
        self._pump(now if self._replies else until)
        while not (self._replies or self._sockets.rung) and time.monotonic() < until:
            self._pump(until)
        replies, self._replies = self._replies, []
        return replies

    def close(self) -> None:
        """Abort what is in flight and close every connection."""
        for easy in self._transfers:
            easy.close()
        self._multi.close()
        self._sockets.close()
        self._resolver.close()

    def _another(self) -> "Transfer":
        transfer = Transfer(self._options, self._open_socket, self._ask)
        self._transfers[transfer.easy] = transfer
        return transfer

    def _connect(self, transfer: "Transfer", answer: Answer) -> None:
        if self._proxy and transfer.vetted is not None:
            self._send_by_proxy(transfer, self._proxy, answer)
        elif answer.error is not None:
            self._end(transfer, transfer.incoming.failed(answer.error, answer.detail))
        elif self._proxy is None:
            transfer.aim(answer.addresses, self._timeout)
            self._multi.add_handle(transfer.easy)
        else:
            transfer.vetted = answer
            proxy_answer = Answer((self._proxy.host,))
            if not self._proxy.is_address:
                deadline = time.monotonic() + self._timeout
                resolved = self._resolver.resolve(f"{self._proxy.host}.", transfer, deadline)
                if resolved is None:
                    return
                proxy_answer = resolved
            self._send_by_proxy(transfer, self._proxy, proxy_answer)

    def _send_by_proxy(self, transfer: "Transfer", proxy: Proxy, proxy_answer: Answer) -> None:
        """Begin to send through the proxy to the vetted address of the receiver."""
        if proxy_answer.error is not None:
            self.outage.failed(time.monotonic(), UNKNOWN_PROXY)
            return self._end(transfer, transfer.incoming.failed(Failure.PROXY, UNKNOWN_PROXY))
        address = None
        if transfer.vetted and transfer.vetted.addresses:
            address = self.outage.address_of(transfer.host, transfer.vetted.addresses)
            if self._policy.why_forbidden(address):
                return self._end(transfer, transfer.incoming.failed(*FORBIDDEN))
        at = chosen_address(proxy_answer.addresses, self.outage.turn)
        transfer.aim_through(at, proxy, address, self._timeout)
        self._multi.add_handle(transfer.easy)

    def _conclude(self, transfer: "Transfer", code: int, text: str) -> Reply:
        incoming = transfer.incoming
        if self._proxy and (incoming.dialled or not code):
            hurried = transfer.seconds_left < self._timeout / 2
            if failure := self.outage.judge(transfer.easy, code, transfer.host, hurried):
                return incoming.failed(*failure)
        verification = transfer.easy.getinfo(pycurl.SSL_VERIFYRESULT) if code else 0
        return incoming.ended(code, text, verification)

    def _end(self, transfer: "Transfer", reply: Reply) -> None:
        self._replies.append(reply)
        self._free.append(transfer)
        self.in_flight -= 1

    def _pump(self, until: float) -> None:
        """Wait for the first event, handle all that are ready, collect finished transfers."""
        now = time.monotonic()
        timer = self._multi.timeout()
        wake = min(until, self._resolver.next_deadline, now + timer / 1000 if timer >= 0 else until)
        for descriptor, events in self._sockets.ready(max(0.0, wake - now)):
            self._multi.socket_action(descriptor, events)
        if self._multi.timeout() == 0:
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        for transfer, answer in self._resolver.answers():
            self._connect(transfer, answer)
        more = 1
        while more:
            more, whole, broken = self._multi.info_read()
            for easy, code, text in [*((each, 0, "") for each in whole), *broken]:
                self._multi.remove_handle(easy)
                transfer = self._transfers[easy]
                self._end(transfer, self._conclude(transfer, code, text))

    def _ask(self, incoming: Incoming, *_: object) -> int:
        if self._may_send(incoming.key):
            return pycurl.PREREQFUNC_OK
        incoming.refuse(Failure.NOT_SENT, "It was no longer ours to send.")
        return pycurl.PREREQFUNC_ABORT

    def _open_socket(self, transfer: "Transfer", purpose: int, address: Any) -> int:
        """Open a socket, after a second check: this is the address that libcurl really uses."""
        incoming = transfer.incoming
        reason: str | None = "no internet address"
        if address.family in (socket.AF_INET, socket.AF_INET6):
            if self._proxy is None:
                reason = self._policy.why_forbidden(address.addr[0])
            else:
                reason = None if address.addr[0] == transfer.proxy_address else "not the proxy"
        if reason is not None:
            incoming.refuse(Failure.FORBIDDEN_ADDRESS, f"Not a public address ({reason}).")
            return NO_SOCKET
        try:
            opened = socket.socket(address.family, address.socktype, address.protocol).detach()
        except OSError as error:
            incoming.refuse(Failure.INTERNAL, f"No socket to be had: {error.strerror}.")
            return NO_SOCKET
        self._sockets.opened(opened)
        incoming.dialled = True
        return opened
