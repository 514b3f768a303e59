"""Program of the receiver: an epoll loop that logs every request and answers it.

`python -m tools.bench.sink [--tls FILE] [--listen ADDRESS:PORT] [--brief]` prints its port on
stdout. The path of a request chooses the response (tools/bench/manners.py). Commands on stdin:
`count` prints the number of answered requests, `held` of those still waiting for an answer, `log
PATH` writes all to a file, `clear` forgets them, `fall` stops answers to the paths below /fall.

With --brief it stores only number and time of answered requests, for long loads; `hand PATH`
writes those to a file and forgets them, without a pause.
"""

import argparse
import heapq
import itertools
import json
import math
import resource
import select
import socket
import ssl
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from tools.bench import bodies, stopwatch
from tools.bench.manners import RESET, Manners

PIECE = 64 * 1024
WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError)
# SO_LINGER of 0 seconds: closing sends a reset.
AT_ONCE = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Request:
    """Raw request; it is parsed only after the measurement."""

    at: float
    bytes: bytes
    answered_at: float | None = None

    def row(self) -> tuple[float, str, str, str, float | None]:
        """Return arrival time (monotonic), path, X-Webhook-Id or "", body, and answer time."""
        head, _, body = self.bytes.partition(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode()
        return self.at, path, header(head, b"x-webhook-id"), body.decode(), self.answered_at


class Connection:
    def __init__(self, opened: socket.socket) -> None:
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = opened
        self.rest = b""
        self.pending = 0

    def read(self) -> list[bytes] | None:
        """Return the complete requests; None if the connection is closed."""
        requests = []
        while True:
            try:
                data = self.socket.recv(PIECE)
            except WOULD_BLOCK:
                return requests
            except OSError:
                return None
            if not data:
                return None
            data = self.rest + data
            while end := length(data):
                requests.append(data[:end])
                data = data[end:]
            self.rest = data
            # TLS may have buffered more than the socket shows; without TLS epoll reports it.
            if not isinstance(self.socket, ssl.SSLSocket):
                return requests

    def send(self, answer: bytes) -> bool:
        """Send an answer; return False if the connection is to be closed."""
        if answer == RESET:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            return False
        try:
            self.socket.sendall(answer)
        except OSError:  # the sender has closed the connection
            return False
        return True


def length(data: bytes) -> int:
    """Return the length of the first request in `data`; 0 while it is incomplete."""
    head = data.find(b"\r\n\r\n")
    if head < 0:
        return 0
    end = head + 4 + int(header(data[:head], b"content-length") or 0)
    return end if end <= len(data) else 0


def header(head: bytes, name: bytes) -> str:
    lowered = head.lower()
    start = lowered.find(b"\r\n" + name + b":")
    if start < 0:
        return ""
    start += len(name) + 3
    end = head.find(b"\r\n", start)
    return head[start : end if end > 0 else None].strip().decode()


class Sink:
    def __init__(
        self, context: ssl.SSLContext | None, address: tuple[str, int], brief: bool = False
    ) -> None:
        self.context = context
        self.brief = brief
        self.notes = bytearray()
        self.manners = Manners()
        self.log: list[Request] = []
        self.cleared_at = 0.0
        self.answered = 0
        self.connections: dict[int, Connection] = {}
        # Heap of later answers: due time, a tie-breaking number, and the rest.
        self.later: list[tuple[float, int, Connection, Request, bytes]] = []
        self.numbers = itertools.count()
        self.listener = socket.create_server(address, backlog=4096)
        self.listener.setblocking(False)
        self.epoll = select.epoll()
        self.epoll.register(self.listener, select.EPOLLIN)
        self.epoll.register(sys.stdin, select.EPOLLIN)

    @property
    def pending(self) -> int:
        """Number of unanswered requests on open connections."""
        return sum(connection.pending for connection in self.connections.values())

    def serve(self) -> None:
        """Serve until stdin is closed."""
        while True:
            wait = max(0.0, self.later[0][0] - time.monotonic()) if self.later else None
            for descriptor, _ in self.epoll.poll(wait):
                if descriptor in self.connections:
                    self.take(self.connections[descriptor])
                elif descriptor == self.listener.fileno():
                    self.accept()
                elif not self.obey(sys.stdin.readline()):
                    return
            now = time.monotonic()
            while self.later and self.later[0][0] <= now:
                _, _, connection, request, answer = heapq.heappop(self.later)
                self.reply(connection, request, answer)

    def accept(self) -> None:
        try:
            while True:
                opened, _ = self.listener.accept()
                if self.context:
                    opened.setblocking(False)
                    opened = self.context.wrap_socket(
                        opened, server_side=True, do_handshake_on_connect=False
                    )
                self.connections[opened.fileno()] = Connection(opened)
                self.epoll.register(opened, select.EPOLLIN)
        except OSError:  # no further connection, or it was closed meanwhile
            return

    def take(self, connection: Connection) -> None:
        received = connection.read()
        if received is None:
            self.close(connection)
            return
        now = time.monotonic()
        for data in received:
            request = Request(now, data)
            if not self.brief:
                self.log.append(request)
            connection.pending += 1
            at, answer = self.manners.react(data, now)
            if at <= now:
                self.reply(connection, request, answer)
            elif at < math.inf:
                number = next(self.numbers)
                heapq.heappush(self.later, (at, number, connection, request, answer))

    def reply(self, connection: Connection, request: Request, answer: bytes) -> None:
        """Answer a request, unless the sender has closed the connection."""
        if not connection.send(answer):
            self.close(connection)
            return
        connection.pending -= 1
        request.answered_at = time.monotonic()
        self.answered += request.at >= self.cleared_at
        if self.brief:
            number = bodies.number(request.bytes.partition(b"\r\n\r\n")[2])
            self.notes += stopwatch.ARRIVED.pack(number, request.at)

    def close(self, connection: Connection) -> None:
        self.connections.pop(connection.socket.fileno(), None)
        connection.socket.close()

    def obey(self, line: str) -> bool:
        """Execute a command of stdin; return False at its end."""
        word, _, path = line.strip().partition(" ")
        if word == "log":
            with open(path, "w") as file:
                json.dump([request.row() for request in self.log], file)
        elif word == "clear":
            self.log.clear()
            self.answered = 0
            self.cleared_at = time.monotonic()
        elif word == "fall":
            self.manners.silent = True
        if word == "hand":
            notes, self.notes = self.notes, bytearray()
            # A slow disk must not slow down the receiver.
            Thread(target=hand, args=(notes, Path(path), self.answered), daemon=True).start()
        elif word:
            print(self.pending if word == "held" else self.answered, flush=True)
        return bool(line)


def hand(notes: bytearray, path: Path, answered: int) -> None:
    path.write_bytes(notes)
    print(answered, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tls", metavar="FILE", help="a certificate and its key")
    parser.add_argument("--listen", metavar="ADDRESS:PORT", default="127.0.0.1:0")
    parser.add_argument("--brief", action="store_true", help="keep number and time, and no more")
    options = parser.parse_args()
    context = None
    if options.tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(options.tls)
    # Thousands of requests may wait for answers, each on its own connection.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    address, _, port = options.listen.rpartition(":")
    sink = Sink(context, (address, int(port)), options.brief)
    print(sink.listener.getsockname()[1], flush=True)
    sink.serve()


if __name__ == "__main__":
    main()
