"""Receivers on loopback that misbehave: a raw socket, a thread per connection, one habit each."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from ipaddress import ip_network
from itertools import count, repeat
from typing import NamedTuple

from deliveries.http.answers import Reply
from deliveries.http.transport import Request, Transport, send_one
from webhooks.targets import Policy

LOOPBACK = Policy(
    allow_http=True, allowed_networks=(ip_network("127.0.0.0/8"), ip_network("::1/128"))
)
HEADERS = (("Content-Type", "application/json"), ("User-Agent", "parceldesk/1.0.0"))
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Visitor:
    """One connection to a receiver, as its habit sees it."""

    def __init__(self, connection: socket.socket, receiver: "Receiver") -> None:
        self.connection = connection
        self.receiver = receiver

    def read_request(self) -> bytes:
        """Keep and return the next request; raises ConnectionError when there is none."""
        request = b""
        while b"\r\n\r\n" not in request:
            request += self._read()
        head, _, body = request.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        while len(body) < length:
            body += self._read()
        self.receiver.requests.append(head + b"\r\n\r\n" + body)
        return self.receiver.requests[-1]

    def say(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.connection.sendall(piece)

    def drip(self, pieces: Iterable[bytes], seconds: float = 0.05) -> None:
        for piece in pieces:
            self.connection.sendall(piece)
            self.rest(seconds)

    def rest(self, seconds: float = 60.0) -> None:
        """Hold the connection; ends early when the test is over."""
        if self.receiver.over.wait(seconds):
            raise ConnectionError("the test is over")

    def slam(self) -> None:
        """Reset the connection instead of closing it."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _read(self) -> bytes:
        data = self.connection.recv(65_536)
        if not data:
            raise ConnectionError("the sender has closed")
        return data


Habit = Callable[[Visitor], None]


class Receiver:
    """Counts its connections and keeps the requests that its habit has read."""

    def __init__(self, habit: Habit, tls: ssl.SSLContext | None, address: str) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self._habit = habit
        self._tls = tls
        self.over = threading.Event()
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.create_server((address, 0), family=family, backlog=64)
        self.port = self._listener.getsockname()[1]
        host = f"[{address}]" if ":" in address else address
        self.url = f"{'https' if tls else 'http'}://{host}:{self.port}/hook"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self.over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            if self._tls is not None:
                with self._tls.wrap_socket(connection, server_side=True) as wrapped:
                    self._habit(Visitor(wrapped, self))
            else:
                self._habit(Visitor(connection, self))


@contextmanager
def receiver(
    habit: Habit, tls: ssl.SSLContext | None = None, address: str = "127.0.0.1"
) -> Iterator[Receiver]:
    running = Receiver(habit, tls, address)
    try:
        yield running
    finally:
        running.close()


def saying(*pieces: bytes) -> Habit:
    """Read one request, send these bytes, close."""

    def habit(visitor: Visitor) -> None:
        visitor.read_request()
        visitor.say(*pieces)

    return habit


def dripping(start: bytes, pieces: Iterable[bytes], seconds: float = 0.05) -> Habit:
    """Read one request, send the start at once and the pieces with pauses between."""

    def habit(visitor: Visitor) -> None:
        visitor.read_request()
        visitor.say(start)
        visitor.drip(pieces, seconds)
        visitor.rest()

    return habit


def good(visitor: Visitor) -> None:
    """Answer request after request on one connection."""
    while True:
        visitor.read_request()
        visitor.say(OK)


def silent(visitor: Visitor) -> None:
    """Accept, and send nothing."""
    visitor.rest()


def flooding(start: bytes, piece: bytes) -> Habit:
    """Read one request, then send without end and without pause."""

    def habit(visitor: Visitor) -> None:
        visitor.read_request()
        visitor.say(start)
        for each in repeat(piece):
            visitor.say(each)

    return habit


def numbered(template: bytes) -> Iterator[bytes]:
    return (template % number for number in count())


def send(url: str, policy: Policy = LOOPBACK, body: bytes = b"{}", **options: object) -> Reply:
    """Send one request, with time enough on a busy machine unless the options say otherwise."""
    return send_one(Request(url, body, HEADERS), policy, **{"timeout_seconds": 10.0} | options)


def send_in_turn(transport: Transport, *urls: str) -> list[Reply]:
    """Send each request once the previous one has been answered."""
    replies = []
    for url in urls:
        transport.start(Request(url, b"{}", HEADERS))
        replies += transport.wait(60.0)
    return replies


class Outcome(NamedTuple):
    reply: Reply
    receiver: Receiver


def outcomes(habits: dict[str, Habit], seconds: float) -> dict[str, Outcome]:
    """Send one request to a receiver of each habit, all at once; return the outcomes."""
    with ExitStack() as stack:
        running = {name: stack.enter_context(receiver(habit)) for name, habit in habits.items()}
        options = {"timeout_seconds": seconds, "concurrency": len(habits)}
        transport = stack.enter_context(closing(Transport(LOOPBACK, **options)))
        for name, each in running.items():
            transport.start(Request(each.url, b"{}", (("X-Webhook-Id", "1"),), name))
        replies: dict[object, Reply] = {}
        while len(replies) < len(habits):
            replies |= {reply.key: reply for reply in transport.wait(1.0)}
        assert transport.in_flight == 0
    return {name: Outcome(replies[name], running[name]) for name in habits}
