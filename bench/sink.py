"""The receiver's program: an epoll loop that answers 200 and writes everything down.

`python -m bench.sink [--tls FILE]` says its port on stdout and is told what to do on stdin:
`count` says how many requests it has answered, `log PATH` writes all to a file, `clear` forgets
them. A request whose path begins with /silent is read and never answered.
"""

import argparse
import json
import select
import socket
import ssl
import sys
import time
from typing import NamedTuple

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
SILENT = b"POST /silent"
PIECE = 64 * 1024
WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError)


class Request(NamedTuple):
    """Kept as it came: taking it apart can wait until nobody is being measured."""

    at: float
    bytes: bytes

    def row(self) -> tuple[float, str, str, str]:
        """Time of arrival on the monotonic clock, path, X-Webhook-Id or nothing, and body."""
        head, _, body = self.bytes.partition(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode()
        return self.at, path, header(head, b"x-webhook-id"), body.decode()


class Connection:
    def __init__(self, opened: socket.socket) -> None:
        opened.setblocking(False)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = opened
        self.rest = b""

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

    def answer(self, requests: list[bytes]) -> int:
        """Answer those that want an answer; how many."""
        loud = sum(not request.startswith(SILENT) for request in requests)
        if loud:
            self.socket.sendall(ANSWER * loud)
        return loud


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
    def __init__(self, context: ssl.SSLContext | None) -> None:
        self.context = context
        self.log: list[Request] = []
        self.answered = 0
        self.connections: dict[int, Connection] = {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.listener.setblocking(False)
        self.epoll = select.epoll()
        self.epoll.register(self.listener, select.EPOLLIN)
        self.epoll.register(sys.stdin, select.EPOLLIN)

    def serve(self) -> None:
        """Until stdin is closed."""
        while True:
            for descriptor, _ in self.epoll.poll():
                if descriptor in self.connections:
                    self.take(descriptor)
                elif descriptor == self.listener.fileno():
                    self.accept()
                elif not self.obey(sys.stdin.readline()):
                    return

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

    def take(self, descriptor: int) -> None:
        connection = self.connections[descriptor]
        requests = connection.read()
        now = time.monotonic()
        try:
            if requests is not None:
                self.log += [Request(now, request) for request in requests]
                self.answered += connection.answer(requests)
                return
        except OSError:  # the other side has gone
            pass
        del self.connections[descriptor]
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
        if word:
            print(self.answered, flush=True)
        return bool(line)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tls", metavar="FILE", help="a certificate and its key")
    options = parser.parse_args()
    context = None
    if options.tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(options.tls)
    sink = Sink(context)
    print(sink.listener.getsockname()[1], flush=True)
    sink.serve()


if __name__ == "__main__":
    main()
