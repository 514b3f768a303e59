"""Receivers of an attacker, in its own process."""

import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[[BaseHTTPRequestHandler], None]
KIB = 1024


def receiver(answer: Answering) -> str:
    """The address of a receiver that answers so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 1024

        def handle_error(self, *_: Any) -> None:
            """Broken connections are what it is there for."""

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def statuses(status: int, *headers: tuple[str, str]) -> Answering:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def dripping(handler: BaseHTTPRequestHandler) -> None:
    """16 KiB a second, for as long as anybody listens."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(KIB * KIB))
    handler.end_headers()
    for _ in range(KIB):
        handler.wfile.write(bytes(KIB))
        time.sleep(1 / 16)


def silent() -> str:
    """The address of one that takes connections and says nothing."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    kept: list[socket.socket] = []

    def accept() -> None:
        while True:
            kept.append(listener.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"
