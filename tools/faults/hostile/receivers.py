"""Receivers of an attacker, in the attacker's process.

One thread answers them all, to take little processor time from the service on the same machine.
"""

import asyncio
import socket
import threading
from collections.abc import Callable

Answering = Callable[[asyncio.Transport, str], None]
KIB = 1024
DRIPS_A_SECOND = 16
BACKLOG = 1024


class Conversation(asyncio.Protocol):
    """Connection that answers each complete request by its path."""

    def __init__(self, answer: Answering) -> None:
        self.answer = answer
        self.rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a stream is one
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.rest += data
        while (head := self.rest.partition(b"\r\n\r\n"))[1]:
            fields = head[0].lower().split(b"\r\n")
            lengths = [each[15:] for each in fields if each.startswith(b"content-length:")]
            length = int(lengths[0]) if lengths else 0
            if len(head[2]) < length:
                return
            self.rest = head[2][length:]
            self.answer(self.transport, head[0].split(b" ", 2)[1].decode())


def receiver(answer: Answering) -> str:
    """Start a receiver with this behaviour; return its address."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: Conversation(answer), sock=listener, backlog=BACKLOG
        )
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def head_of(status: int, length: int, *headers: tuple[str, str]) -> bytes:
    lines = [f"{name}: {value}\r\n" for name, value in (*headers, ("Content-Length", str(length)))]
    return f"HTTP/1.1 {status} Whatever\r\n{''.join(lines)}\r\n".encode()


def statuses(status: int, *headers: tuple[str, str]) -> Answering:
    whole = head_of(status, 0, *headers)
    return lambda transport, _: transport.write(whole)


def redirecting(transport: asyncio.Transport, path: str) -> None:
    """Redirect to the same path forever."""
    transport.write(head_of(307, 0, ("Location", path)))


def dripping(transport: asyncio.Transport, _: str) -> None:
    """Send 16 KiB a second until the client closes the connection."""
    transport.write(head_of(200, KIB * KIB))
    loop = asyncio.get_running_loop()

    def drip(remaining: int) -> None:
        if remaining and not transport.is_closing():
            transport.write(bytes(KIB))
            loop.call_later(1 / DRIPS_A_SECOND, drip, remaining - 1)

    drip(KIB)


def silent() -> str:
    """Start a receiver that accepts connections and never answers; return its address."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    connections: list[socket.socket] = []

    def accept() -> None:
        while True:
            connections.append(listener.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"
