"""Clients of the API: each keeps one connection and sends its requests one by one."""

import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Self

PATIENCE_SECONDS = 30.0


class Question(NamedTuple):
    """Request; the body is built from a number that differs each time."""

    method: str
    path: str
    body: Callable[[int], dict[str, Any]] | None = None


class Caller:
    """Client on a persistent connection, cheap compared with the requests it sends."""

    def __init__(self, port: int, token: str) -> None:
        self.head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        self.sock = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def ask(self, question: Question, number: int) -> bytes:
        """Send a request and return the response body. Raises RuntimeError unless it is 2xx."""
        body = b"" if question.body is None else json.dumps(question.body(number)).encode()
        about = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        line = f"{question.method} {question.path} HTTP/1.1\r\n{self.head}{about}\r\n"
        self.sock.sendall(line.encode() + body)
        head, received = self.read_head()
        if head[9:10] != b"2":
            raise RuntimeError(f"{question.path}: {head.decode()} {received.decode()}")
        return received

    def read_head(self) -> tuple[bytes, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.more()
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += self.more()
        return head, body

    def more(self) -> bytes:
        data = self.sock.recv(65536)
        if not data:
            raise RuntimeError("the connection was closed before the answer")
        return data


class Storm(NamedTuple):
    """Response times of several clients that send without a pause."""

    seconds: list[float]
    lasted: float


def storm(port: int, token: str, question: Question, numbers: list[range]) -> Storm:
    """Run a client for each of `numbers`, which sends a request for each of them."""

    def ask_all(mine: range) -> list[float]:
        times = []
        with Caller(port, token) as caller:
            for number in mine:
                began = time.perf_counter()
                caller.ask(question, number)
                times.append(time.perf_counter() - began)
        return times

    started = time.monotonic()
    with ThreadPoolExecutor(len(numbers)) as pool:
        times = [each for times in pool.map(ask_all, numbers) for each in times]
    return Storm(times, time.monotonic() - started)
