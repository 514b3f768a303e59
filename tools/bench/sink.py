"""The receiver's program: an epoll loop that writes down every request and answers it.

`python -m tools.bench.sink [--tls FILE] [--listen ADDRESS:PORT] [--brief]` says its port on stdout.
The path of a request says how it is answered (tools/bench/manners.py). Lines on stdin say what to
do: `count` says how many requests were answered, `held` how many still wait for an answer, `log
PATH` writes all to a file, `clear` forgets them, `fall` has the paths below /fall fall silent.

With --brief it keeps the number and the time of what it answered and nothing else, for loads that
last; `hand PATH` writes those to a file and forgets them, while it goes on answering.
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
# Closing without a farewell: the other side gets a reset.
AT_ONCE = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Request:
    """Kept as it came: taking it apart can wait until nobody is being measured."""

    at: float
    bytes: bytes
    answered_at: float | None = None

    def row(self) -> tuple[float, str, str, str, float | None]:
        """Time of arrival on the monotonic clock, path, X-Webhook-Id or nothing, body, and when
        it was answered.
        """
        head, _, body = self.bytes.partition(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode()
        return self.at, path, header(head, b"x-webhook-id"), body.decode(), self.answered_at


class Connection:
    def __init__(self, opened: socket.socket) -> None:
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = opened
        self.rest = b""
        self.held = 0

    def read(self) -> list[bytes] | None:
        """The requests that are complete; None when the connection is over."""
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
            # TLS may hold more than the socket shows; without it epoll will say so.
            if not isinstance(self.socket, ssl.SSLSocket):
                return requests

    def send(self, answer: bytes) -> bool:
        """Send an answer; False when the connection is over, because of that or before."""
        if answer == RESET:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            return False
        try:
            self.socket.sendall(answer)
        except OSError:  # the other side has gone
            return False
        return True


def length(data: bytes) -> int:
    """Bytes of the first request in `data`; 0 while it is not complete."""
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
        # Answers that are due later: when, a number that tells equal times apart, and the rest.
        self.later: list[tuple[float, int, Connection, Request, bytes]] = []
        self.numbers = itertools.count()
        self.listener = socket.create_server(address, backlog=4096)
        self.listener.setblocking(False)
        self.epoll = select.epoll()
        self.epoll.register(self.listener, select.EPOLLIN)
        self.epoll.register(sys.stdin, select.EPOLLIN)

    @property
    def held(self) -> int:
        """Requests that were not answered, on connections that are still open."""
        return sum(connection.held for connection in self.connections.values())

    def serve(self) -> None:
        """Until stdin is closed."""
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
        except OSError:  # nobody else waits, or the one who did has gone
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
            connection.held += 1
            at, answer = self.manners.react(data, now)
            if at <= now:
                self.reply(connection, request, answer)
            elif at < math.inf:
                number = next(self.numbers)
                heapq.heappush(self.later, (at, number, connection, request, answer))

    def reply(self, connection: Connection, request: Request, answer: bytes) -> None:
        """Answer, unless the other side has given up."""
        if not connection.send(answer):
            self.close(connection)
            return
        connection.held -= 1
        request.answered_at = time.monotonic()
        self.answered += request.at >= self.cleared_at
        if self.brief:
            number = bodies.number(request.bytes.partition(b"\r\n\r\n")[2])
            self.notes += stopwatch.ARRIVED.pack(number, request.at)

    def close(self, connection: Connection) -> None:
        self.connections.pop(connection.socket.fileno(), None)
        connection.socket.close()

    def obey(self, line: str) -> bool:
        """Do what was said on stdin; False once nothing more will be."""
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
            # A disk that is slow must not make the receiver slow.
            Thread(target=hand, args=(notes, Path(path), self.answered), daemon=True).start()
        elif word:
            print(self.held if word == "held" else self.answered, flush=True)
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
    # Thousands of requests may wait for their answers, each on a connection of its own.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    address, _, port = options.listen.rpartition(":")
    sink = Sink(context, (address, int(port)), options.brief)
    print(sink.listener.getsockname()[1], flush=True)
    sink.serve()


if __name__ == "__main__":
    main()
