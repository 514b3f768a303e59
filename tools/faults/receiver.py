"""Webhook receiver on loopback: an HTTP server that logs every request."""

import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Received(NamedTuple):
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float


@dataclass(frozen=True)
class Answer:
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b"ok"
    # Called once the answer is sent.
    then: Callable[[], None] = lambda: None


class Receiver:
    """Receiver: `with Receiver() as receiver:`. Replace `answer` to change the responses."""

    def __init__(
        self, tls: ssl.SSLContext | None = None, listen: tuple[str, int] = ("127.0.0.1", 0)
    ) -> None:
        self.log: list[Received] = []
        self.answer: Callable[[Received], Answer] = lambda received: Answer()
        # Called for each connection, before the handshake.
        self.connected: Callable[[], None] = lambda: None
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def handle(self) -> None:
                receiver.connected()
                super().handle()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received = Received(self.path, dict(self.headers), body, time.time())
                receiver.log.append(received)
                answer = receiver.answer(received)
                self.send_response(answer.status)
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
                self.wfile.flush()
                answer.then()

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024

            def handle_error(self, *_: Any) -> None:
                """Ignore broken connections: a killed sender leaves them."""

        self.server = Server(listen, Handler)
        if tls is not None:
            # The handshake runs in the connection's own thread: a sender that freezes during one
            # must not keep others from being accepted.
            self.server.socket = tls.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.scheme = "http" if tls is None else "https"
        self.port = self.server.server_port

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def __enter__(self) -> "Receiver":
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def wait_for(self, count: int, seconds: float = 30) -> list[Received]:
        """Wait at most `seconds` until the log has `count` requests; return the log."""
        deadline = time.monotonic() + seconds
        while len(self.log) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.log
